import { DomainError } from '@latchkey/domain/domain-error';
import type {
  Adapter,
  Call,
  Decision,
  Holder,
  Join,
  ListOptions,
  Mark,
  StepCall,
  Steps,
  WriteOptions,
} from './adapter.ts';
import {
  atFirstUse,
  type Changes,
  givens,
  type Input,
  settingsOf,
  termsOf,
  type Where,
} from './condition.ts';
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

type Fields = readonly string[];
type AnyJoins = Readonly<Record<string, Join>>;
type Marked = { marks: readonly Mark[] };

export type AllowedSite = [
  kind: AnyKind,
  of: ChangeSite,
  fields: Fields,
  look: {
    where: Site;
    fields: Fields;
    joins: AnyJoins;
    allows: Result;
  },
  result: Result,
  options?: Options,
];

/** What an adapter has of {@link Adapter}. */
export type Primitives = {
  joined(kind: AnyKind, where: Site, of: Fields, joins: AnyJoins, result: Result): AnyCall;
  list(
    ...of: [kind: AnyKind, where: Site, of: Fields, result: Result, options?: ListOptions<AnyKind>]
  ): AnyCall<unknown[]>;
  count(kind: AnyKind, where: Site): AnyCall<number>;
  insertOnce(kind: AnyKind, options?: Options): AnyCall<void>;
  insertNew(kind: AnyKind, options?: Options): Call<readonly Input[], void>;
  change(kind: AnyKind, to: ChangeSite, of: Fields, result: Result, options?: Options): AnyCall;
  changeSome(
    kind: AnyKind,
    to: ChangeSite,
    of: Fields,
    result: Result,
    options: ListOptions<AnyKind> & Options,
  ): AnyCall<unknown[] | null>;
  changeEach(kind: AnyKind, to: ChangeSite, options?: Options): Call<readonly Input[], void>;
  remove(kind: AnyKind, where: Site, of: Fields, result: Result, options?: Options): AnyCall;
  removeSome(kind: AnyKind, where: Site): AnyCall<number>;
  next(kind: AnyKind, key: string, field: string): AnyCall<number>;
  modify(
    kind: AnyKind,
    key: (input: Input) => string,
    decide: (found: Input | null, input: Input) => Decision<Input, unknown>,
    options?: Options,
  ): AnyCall;
  listMarks(kind: AnyKind): Call<{ limit: number; isDecisive: boolean; isNewest: boolean }, Mark[]>;
  findMarked(kind: AnyKind, of: Fields, result: Result): Call<Marked, unknown[]>;
  removeMarks(kind: AnyKind): Call<Marked, void>;
};

export function changeOf(site: ChangeSite) {
  const { where, set } = site(givens as never);
  return { terms: termsOf(where), settings: settingsOf(set) };
}

/**
 * An adapter of which each step is a durable write, or a read, of its own.
 *
 * @param inSequence - makes all steps of a sequence, also while the store is closed
 */
export function adapterOf(
  {
    insertHeld,
    ...primitives
  }: Primitives & {
    insertHeld(kind: AnyKind, holder: AnyHolder, options?: Options): AnyCall<Input | null>;
  },
  inSequence: <T>(steps: () => Promise<T>) => Promise<T>,
): Adapter {
  const { change, joined, remove } = primitives;
  const steps = {
    insertHeld: (...of: Parameters<typeof insertHeld>) => stepOf(insertHeld(...of)),
    change: (...of: Parameters<typeof change>) => stepOf(change(...of)),
    changeAllowed(...[kind, of, fields, seen, result, options]: AllowedSite) {
      const look = stepOf(joined(kind, seen.where, seen.fields, seen.joins, seen.allows));
      const make = stepOf(change(kind, of, fields, result, options));
      return function* (input: Input) {
        return (yield* look(input)) ? yield* make(input) : null;
      };
    },
    joined: (...of: Parameters<typeof joined>) => stepOf(joined(...of)),
    remove(kind: AnyKind, where: Site) {
      const call = remove(kind, where, [], () => null);
      return stepOf((input) => call(input).catch(() => undefined));
    },
  } as unknown as Steps;

  function sequence(of: (steps: Steps) => StepCall<Input, unknown>, options: Options = {}) {
    const run = sequenceOf(of(steps), options);
    return (input: Input) => inSequence(() => run(input));
  }

  return wholeAdapter(primitives, sequence);
}

/** Each call site is prepared at its first use. */
export function wholeAdapter(
  primitives: Primitives,
  sequence: (of: (steps: Steps) => StepCall<Input, unknown>, options?: Options) => AnyCall,
): Adapter {
  const find = (kind: AnyKind, where: Site, fields: Fields, result: Result) =>
    primitives.joined(kind, where, fields, {}, result);
  return atFirstUse({ ...primitives, find, sequence }) as unknown as Adapter;
}

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
