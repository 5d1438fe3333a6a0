import { DomainError } from '@latchkey/domain/domain-error';
import type { Adapter, Call, Holder, Join, StepCall, Steps, WriteOptions } from './adapter.ts';
import { atFirstUse, type Changes, type Input, type Prepare, type Where } from './condition.ts';
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

export type AllowedSite = [
  kind: AnyKind,
  of: ChangeSite,
  fields: readonly string[],
  look: {
    where: Site;
    fields: readonly string[];
    joins: Readonly<Record<string, Join>>;
    allows: Result;
  },
  result: Result,
  options?: Options,
];

type Primitives = Record<Exclude<keyof Adapter, 'find' | 'sequence'>, Prepare> & {
  insertHeld(kind: AnyKind, holder: AnyHolder, options?: Options): AnyCall<Input | null>;
  /** Removes a record. */
  drop(kind: AnyKind, where: Site): AnyCall;
};

/**
 * An adapter of which each step is a durable write, or a read, of its own.
 *
 * @param inSequence - makes all steps of a sequence, also while the store is closed
 */
export function adapterOf(
  { insertHeld, drop, ...primitives }: Primitives,
  inSequence: <T>(steps: () => Promise<T>) => Promise<T>,
): Adapter {
  const { change, joined } = primitives;
  const steps = {
    insertHeld: (...of: Parameters<typeof insertHeld>) => stepOf(insertHeld(...of)),
    change: (...of: unknown[]) => stepOf(change(...of)),
    changeAllowed(...[kind, of, fields, seen, result, options]: AllowedSite) {
      const look = stepOf(joined(kind, seen.where, seen.fields, seen.joins, seen.allows));
      const make = stepOf(change(kind, of, fields, result, options));
      return function* (input: Input) {
        return (yield* look(input)) ? yield* make(input) : null;
      };
    },
    joined: (...of: unknown[]) => stepOf(joined(...of)),
    remove(...of: Parameters<typeof drop>) {
      const call = drop(...of);
      return stepOf((input) => call(input).catch(() => undefined));
    },
  } as unknown as Steps;

  function sequence(of: (steps: Steps) => StepCall<Input, unknown>, options: Options = {}) {
    const run = sequenceOf(of(steps), options);
    return (input: Input) => inSequence(() => run(input));
  }

  const find = findBy(joined);
  return atFirstUse({ ...primitives, find, sequence }) as unknown as Adapter;
}

const findBy =
  (joined: Prepare): Prepare =>
  (kind, where, fields, result) =>
    joined(kind, where, fields, {}, result);

const stepOf = <R>(call: AnyCall<R>): StepCall<Input, R> =>
  function* (input) {
    return (yield call(input)) as R;
  };

function sequenceOf(begin: StepCall<Input, unknown>, { grant_id }: Options): AnyCall {
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
