import { isDeepStrictEqual } from 'node:util';
import type { AnyKind, RecordOf } from './kind.ts';

/** The input of a call. */
export type Input = Readonly<Record<string, unknown>>;

/** A member of the input of a call. A missing one is null. */
export class Given<T> {
  declare readonly type: T;
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export type Givens<I> = { readonly [N in keyof I]-?: Given<Exclude<I[N], undefined>> };

/** A call site is written once, with its input's members in place of values. */
export const givens = new Proxy({}, { get: (_, name) => new Given(String(name)) }) as Givens<never>;

type Value<T> = T | Given<T> | Given<T | null>;

export type ComparisonName = 'moreThan' | 'atLeast' | 'lessThan' | 'oneOf' | 'set';

/** What stands in place of a value of a field. */
class Word<Is extends string, T> {
  declare readonly type: T;
  readonly is: Is;
  readonly value: unknown;
  constructor(is: Is, value: unknown) {
    this.is = is;
    this.value = value;
  }
}

class Comparison<T> extends Word<ComparisonName, T> {}

/** Each of these is false for what is not set, but for a `oneOf` with null. */
export const moreThan = <T>(value: Value<T>) => new Comparison<T>('moreThan', value);
export const atLeast = <T>(value: Value<T>) => new Comparison<T>('atLeast', value);
export const lessThan = <T>(value: Value<T>) => new Comparison<T>('lessThan', value);
export const oneOf = <T>(values: readonly Value<T>[] | Given<readonly T[] | null>) =>
  new Comparison<T>('oneOf', values);
export const isSet = new Comparison<never>('set', null);

/** All of these. A value means: equal to it; null means: not set. */
export type Condition<K extends AnyKind> = {
  readonly [N in keyof RecordOf<K>]?: Value<RecordOf<K>[N]> | Comparison<RecordOf<K>[N]>;
};

/** All of a list. */
export type Where<K extends AnyKind> = Condition<K> | Either<K> | Optional<K> | readonly Where<K>[];

class Either<K extends AnyKind> {
  readonly of: readonly Where<K>[];
  constructor(of: readonly Where<K>[]) {
    this.of = of;
  }
}

class Optional<K extends AnyKind> {
  readonly given: string;
  readonly isGiven: boolean;
  readonly where: Where<K>;
  constructor(given: string, isGiven: boolean, where: Where<K>) {
    this.given = given;
    this.isGiven = isGiven;
    this.where = where;
  }
}

export const either = <K extends AnyKind>(...of: Where<K>[]) => new Either<K>(of);
/** Only for a call with this member. */
export const when = <K extends AnyKind>(given: Given<unknown>, where: Where<K>) =>
  new Optional<K>(given.name, true, where);
/** Only for a call without this member. */
export const unless = <K extends AnyKind>(given: Given<unknown>, where: Where<K>) =>
  new Optional<K>(given.name, false, where);

type StepName = 'greatest' | 'first' | 'plus' | 'orKept' | 'merged';

class Step<T> extends Word<StepName, T> {}

/** The greater one of this and what is there. */
export const greatest = <T extends number | string>(value: Value<T>) =>
  new Step<T>('greatest', value);
/** Unless it is set already. */
export const first = <T>(value: Value<T>) => new Step<T>('first', value);
export const plus = (value: number) => new Step<number>('plus', value);
/** Unless the call has none. */
export const orKept = <T>(value: Given<T | null>) => new Step<T>('orKept', value);
/** These members of a JSON object that is set. */
export const merged = <T extends object>(members: Partial<T>) => new Step<T>('merged', members);

/** What becomes of a record. Null: no longer set. */
export type Changes<K extends AnyKind> = {
  readonly [N in keyof RecordOf<K>]?: Value<RecordOf<K>[N]> | Step<NonNullable<RecordOf<K>[N]>>;
};

// What a call returns of a record.

export const asIs = <T>(found: T): T => found;
export const idOf = ({ id }: { id: string }) => id;

/** Takes these members of a record. In a loop: it runs for each record of a list. */
export function picking(names: readonly string[], nameOf = (name: string) => name) {
  const members = names.map((name) => [name, nameOf(name)] as const);
  return (record: Input) => {
    const picked: Record<string, unknown> = {};
    for (const [name, as] of members) picked[as] = record[name];
    return picked;
  };
}

// What an adapter works with.

// biome-ignore lint/suspicious/noExplicitAny: what a call site gives is between `Adapter` and the primitive
export type Prepare = (...site: any[]) => (input: any) => Promise<unknown>;

/** Each call site is prepared at its first use: a command makes few calls. */
export const atFirstUse = <All extends Record<string, Prepare>>(primitives: All): All =>
  Object.fromEntries(
    Object.entries(primitives).map(([name, prepare]) => [name, preparedLater(prepare)]),
  ) as never;

const preparedLater =
  (prepare: Prepare): Prepare =>
  (...site) => {
    let call: ReturnType<Prepare> | undefined;
    return (input) => {
      call ??= prepare(...site);
      return call(input);
    };
  };

export type Source = (input: Input) => unknown;

export type Term =
  | {
      readonly is: 'equal' | ComparisonName;
      readonly name: string;
      readonly value: Source;
      /** Whether it wants the field not to be set, whatever the call has. */
      readonly isUnset: boolean;
    }
  | { readonly is: 'either'; readonly of: readonly (readonly Term[])[] }
  | {
      readonly is: 'optional';
      readonly given: string;
      readonly isGiven: boolean;
      readonly terms: readonly Term[];
    };

export interface Setting {
  readonly is: 'set' | StepName;
  readonly name: string;
  readonly value: Source;
  /** Whether it is never null. */
  readonly isValue: boolean;
}

/** A member of the call. */
export const member =
  (name: string): Source =>
  (input) =>
    input[name] ?? null;

const sourceOf = (value: unknown): Source => {
  if (value instanceof Given) return member(value.name);
  if (!Array.isArray(value)) return () => value;
  const sources = value.map(sourceOf);
  return (input) => sources.map((source) => source(input));
};

export function termsOf(where: Where<AnyKind>): Term[] {
  if (Array.isArray(where)) return where.flatMap(termsOf);
  if (where instanceof Either) return [{ is: 'either', of: where.of.map(termsOf) }];
  if (where instanceof Optional) {
    const { given, isGiven } = where;
    return [{ is: 'optional', given, isGiven, terms: termsOf(where.where) }];
  }
  return Object.entries(where).map(([name, wanted]) =>
    wanted instanceof Comparison
      ? { is: wanted.is, name, value: sourceOf(wanted.value), isUnset: false }
      : { is: 'equal', name, value: sourceOf(wanted), isUnset: wanted === null },
  );
}

export function settingsOf(changes: Changes<AnyKind>): Setting[] {
  return Object.entries(changes).map(([name, value]) => ({
    is: value instanceof Step ? value.is : 'set',
    name,
    value: sourceOf(value instanceof Step ? value.value : value),
    isValue: value !== null,
  }));
}

/** The key of the record that a call names; undefined if it is for many. */
export function keyOf(kind: AnyKind, terms: readonly Term[]): Source | undefined {
  for (const term of terms) if (term.is === 'equal' && term.name === kind.key) return term.value;
  return undefined;
}

/** Bytes are the same whatever view they are of. */
const isSame = (one: unknown, other: unknown): boolean =>
  one instanceof Uint8Array && other instanceof Uint8Array
    ? Buffer.compare(one, other) === 0
    : isDeepStrictEqual(one, other);

const order = (one: unknown, other: unknown): number =>
  (one as number) < (other as number) ? -1 : Number((one as number) > (other as number));

/** Whether a value meets a comparison. */
export function meets(is: 'equal' | ComparisonName, found: unknown, wanted: unknown): boolean {
  if (is === 'equal') return isSame(found, wanted);
  if (is === 'oneOf') return (wanted as unknown[]).some((one) => isSame(found, one));
  if (found === null) return false;
  if (is === 'moreThan') return order(found, wanted) > 0;
  if (is === 'atLeast') return order(found, wanted) >= 0;
  if (is === 'lessThan') return order(found, wanted) < 0;
  return true;
}

/** Whether a record that was read back meets a condition. */
export function holds(record: Input, terms: readonly Term[], input: Input): boolean {
  return terms.every((term) => {
    if (term.is === 'either') return term.of.some((one) => holds(record, one, input));
    if (term.is === 'optional') {
      return isGiven(term, input) !== term.isGiven || holds(record, term.terms, input);
    }
    return meets(term.is, record[term.name] ?? null, term.value(input));
  });
}

/** Such a step only ever adds to what is there. Made again, it changes nothing. */
const isRepeatable = ({ is }: Setting) => is === 'greatest' || is === 'first';

/**
 * Whether a command that arrives late does no harm: it sets what its own condition wants not to be set, it
 * replaces the random value that its condition names, or it only ever adds to what is there.
 */
export function mayBeLate(
  kind: AnyKind,
  terms: readonly Term[],
  settings: readonly Setting[],
): boolean {
  const wants = (name: string, isUnset: boolean) =>
    terms.some((term) => term.is === 'equal' && term.name === name && term.isUnset === isUnset);
  return (
    settings.some(({ is, name, isValue }) => is === 'set' && isValue && wants(name, true)) ||
    settings.some(
      ({ is, name }) => is === 'set' && kind.fields[name]?.isRandom && wants(name, false),
    ) ||
    settings.every(isRepeatable)
  );
}

function namesOf(term: Term): string[] {
  if (term.is === 'either') return term.of.flat().flatMap(namesOf);
  return term.is === 'optional' ? term.terms.flatMap(namesOf) : [term.name];
}

/**
 * What became of a change whose response was lost, by the record that is there now.
 *
 * @returns `retry` if it was not made and may be sent again; `refused` if it can't be made any more, and nothing
 * of it is there
 */
export function outcomeOf(
  kind: AnyKind,
  terms: readonly Term[],
  settings: readonly Setting[],
  record: Input,
  input: Input,
): 'made' | 'refused' | 'retry' | 'unknown' {
  const found = (name: string) => record[name] ?? null;
  const isThere = ({ is, name, value }: Setting) => {
    if (is === 'set') return isSame(found(name), value(input));
    if (is === 'orKept') return value(input) === null || isSame(found(name), value(input));
    if (is === 'greatest') return order(found(name), value(input)) >= 0;
    // A sum says nothing of who has added to it.
    return is === 'first' && found(name) !== null;
  };
  if (settings.every(isRepeatable)) {
    // Another call may have made it, so all else has to be as the condition wants it.
    const names = settings.map(({ name }) => name);
    const others = terms.filter((term) => !namesOf(term).some((name) => names.includes(name)));
    return settings.every(isThere) && holds(record, others, input) ? 'made' : 'retry';
  }
  const set = settings.filter(({ is }) => is === 'set' || is === 'orKept');
  // No other call has these values.
  const own = set.filter(({ name, isValue }) => isValue && kind.fields[name]?.isRandom);
  const telling = own.length > 0 ? own : set;
  if (telling.length > 0 && telling.every(isThere)) return 'made';
  if (holds(record, terms, input)) return 'retry';
  return terms.some((term) => isOver(kind, term, record, input)) ? 'refused' : 'unknown';
}

/** Whether a part of a condition will never hold, or never again. */
function isOver(kind: AnyKind, term: Term, record: Input, input: Input): boolean {
  if (term.is === 'either') return false;
  if (term.is === 'optional') {
    return (
      isGiven(term, input) === term.isGiven &&
      term.terms.some((one) => isOver(kind, one, record, input))
    );
  }
  const found = record[term.name] ?? null;
  const { isOnce, isRandom, isFixed } = kind.fields[term.name] ?? {};
  if (meets(term.is, found, term.value(input))) return false;
  if (isFixed) return true;
  if (term.is !== 'equal' || found === null) return false;
  return (term.isUnset ? isOnce : isRandom) ?? false;
}

const isGiven = ({ given }: { given: string }, input: Input) => (input[given] ?? null) !== null;
