import { DomainError } from '@latchkey/domain/domain-error';
import type { Call, Holder, StepCall, WriteOptions } from './adapter.ts';
import type { Changes, Input, Where } from './condition.ts';
import type { AnyKind } from './kind.ts';

// What an adapter sees of its call sites: their own types are the matter of `Adapter`.

export type Site = (given: never) => Where<AnyKind>;
export type ChangeSite = (given: never) => { where: Where<AnyKind>; set: Changes<AnyKind> };
export type Result = (record: Input, input: Input) => unknown;
export type Options = WriteOptions<Input>;
export type AnyCall<R = unknown> = Call<Input, R>;
export type AnyHolder = Pick<Holder<AnyKind, AnyKind, string, Input>, 'kind' | 'copiesFirst'> & {
  by: string;
  fields: readonly string[];
  withheld?: readonly string[];
  copy(holder: Input, input: Input): Input | null;
};

/** Each call site is prepared at its first use. */
export const prepared =
  <Site extends unknown[], I, R>(prepare: (...site: Site) => Call<I, R>) =>
  (...site: Site): Call<I, R> => {
    let call: Call<I, R> | undefined;
    return (input) => {
      call ??= prepare(...site);
      return call(input);
    };
  };

/** A step that is a durable write, or a read, of its own. */
export const stepOf = <R>(call: AnyCall<R>): StepCall<Input, R> =>
  function* (input) {
    return (yield call(input)) as R;
  };

/** A sequence of such steps. */
export function sequenceOf(begin: StepCall<Input, unknown>, { grant_id }: Options): AnyCall {
  return async (input) => {
    try {
      const running = begin(input);
      let { done, value } = running.next();
      while (!done) ({ done, value } = running.next(await value));
      return value;
    } catch (error) {
      const isUnknown = error instanceof DomainError && error.code === 'outcome_unknown';
      if (!isUnknown || !grant_id) throw error;
      throw new DomainError(error.code, { grant_id: grant_id(input) }, error.cause);
    }
  };
}
