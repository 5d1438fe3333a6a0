import type { Milliseconds } from '@latchkey/domain/clock';
import type { EventType } from '@latchkey/schema';
import type { Changes, Givens, Where } from './condition.ts';
import type { AnyKind, RecordOf } from './kind.ts';

type Some<K extends AnyKind, N extends keyof RecordOf<K>> = Pick<RecordOf<K>, N>;
type Name<K extends AnyKind> = keyof RecordOf<K> & string;

/** The condition of a call. */
type Site<K extends AnyKind, I> = (given: Givens<I>) => Where<NoInfer<K>>;
/** The condition of a change, and what becomes of a record that meets it. */
type ChangeSite<K extends AnyKind, I> = (given: Givens<I>) => {
  where: Where<NoInfer<K>>;
  set: Changes<NoInfer<K>>;
};
/** What a call returns of a record. */
type Result<K extends AnyKind, N extends Name<K>, I, R> = (record: Some<K, N>, input: I) => R;

/** A call site: written once, when the store is opened, and prepared at its first use. */
export type Call<I, R> = (input: I) => Promise<R>;

export interface WriteOptions<I> {
  /** For the error of an unknown outcome. */
  grant_id?: (input: I) => string;
  /** Whether it ends something: it goes on for longest when the disk is full. Default: false. */
  ends?: boolean;
  /**
   * Whether it is made at the revision of the record that it finds, so that its outcome is known even if another
   * change overtakes it. Costs a read. Default: only if it could be made twice.
   */
  isExact?: boolean;
  /**
   * Whether a record can be made again under the key of one that was removed. Then a `modify` or a removal in doubt is
   * not sent again: a late first command would undo what came after it. Default: false.
   */
  isReused?: boolean;
  /** Whether a failover may lose it, so that a `modify` waits for no majority. Default: false. */
  isBestEffort?: boolean;
}

export interface ListOptions<K extends AnyKind> {
  /** The index that it goes along. Default: the key. */
  index?: string;
  order?: { by: readonly Name<K>[]; descending?: boolean };
  /** Whether it has to see every acknowledged write. Default: it may miss the latest ones, if it changes nothing. */
  isDecisive?: boolean;
  /**
   * A change of at most `limit` picks them at random among so many times as many, where the database does not read
   * and write in one step: then calls at once seldom pick the same. Default: 1.
   */
  among?: number;
}

/** What a new record copies of the record that it belongs to. */
export interface Holder<K extends AnyKind, H extends AnyKind, N extends Name<H>, F> {
  kind: H;
  /** The field that has the key of the holder. */
  by: Name<K>;
  fields: readonly N[];
  /** Fields of the input that are not stored before the rest is copied. Default: none. */
  withheld?: readonly Name<K>[];
  /**
   * Whether MongoDB copies before the insert too, and again only if the holder was changed meanwhile. So none is
   * inserted for no holder, and one write is enough. Not for names: an insert can arrive after their erasure.
   */
  copiesFirst?: boolean;
  /** Null if the holder is no more. */
  copy(holder: Some<H, N>, input: F): Partial<RecordOf<K>> | null;
}

/** A record that a look-up reads together with its own. */
export interface Join<K extends AnyKind = AnyKind, N extends string = string> {
  kind: K;
  /** The field that has its key. */
  by: string;
  fields: readonly N[];
}

export type Joins = Readonly<Record<string, Join>>;

/** What is read before a change: the record, named by its key, and others. */
export interface Look<K extends AnyKind, I, N extends Name<K>, J extends Joins> {
  where: Site<K, I>;
  fields: readonly N[];
  joins: J;
  allows(found: Some<K, N> & Joined<J>): boolean;
}

/** What a look-up reads together with its own record. Null if it is not there. */
export type Joined<J extends Joins> = {
  [M in keyof J]: J[M] extends Join<infer K, infer N>
    ? Pick<RecordOf<K>, N & keyof RecordOf<K>> | null
    : never;
};

// biome-ignore lint/suspicious/noExplicitAny: what a step is resumed with is between it and the adapter
type Running<R> = Generator<unknown, R, any>;

/** A step of a sequence: `yield*` it. */
export type StepCall<I, R> = (input: I) => Running<R>;

/** What a sequence has, and a database by itself. */
interface Shared<As extends 'call' | 'step'> {
  /** Finds one record by its key, as `find` does, with other records by theirs, all of one moment. */
  joined<K extends AnyKind, I, N extends Name<K>, const J extends Joins, R>(
    kind: K,
    where: Site<K, I>,
    fields: readonly N[],
    joins: J,
    result: (record: Some<K, N> & Joined<J>, input: I) => R,
  ): Made<As, I & MayBeStale, R | null>;

  /** Changes one record, named by its key, if it meets the condition; null otherwise. */
  change<K extends AnyKind, I, N extends Name<K>, R>(
    kind: K,
    of: ChangeSite<K, I>,
    fields: readonly N[],
    result: Result<K, N, I, R>,
    options?: WriteOptions<I>,
  ): Made<As, I, R | null>;
}

type Made<As extends 'call' | 'step', I, R> = As extends 'call' ? Call<I, R> : StepCall<I, R>;

export interface MayBeStale {
  mayBeStale?: boolean | undefined;
}

/**
 * Steps that are made in their order. On SQLite, all are one transaction. Elsewhere, each is a durable write of its
 * own, so a sequence has to be right wherever it is cut.
 */
export interface Steps extends Shared<'step'> {
  /**
   * Inserts a record, unless its holder is no more. No change of the holder that has begun is missed by the record,
   * and no record by what follows the change.
   *
   * @returns the record with what was copied
   */
  insertHeld<
    K extends AnyKind,
    H extends AnyKind,
    N extends Name<H>,
    I extends Partial<RecordOf<K>>,
  >(
    kind: K,
    holder: Holder<K, H, N, I>,
    options?: WriteOptions<I>,
  ): StepCall<I, RecordOf<K> | null>;
  /**
   * As `change`, if the look allows it. Where a statement sees the joined records too, it is looked only if one of
   * their fields is set: with none, the condition of the change has to say enough.
   */
  changeAllowed<
    K extends AnyKind,
    I,
    N extends Name<K>,
    L extends Name<K>,
    const J extends Joins,
    R,
  >(
    kind: K,
    of: ChangeSite<K, I>,
    fields: readonly N[],
    look: Look<K, I, L, J>,
    result: Result<K, N, I, R>,
    options?: WriteOptions<I>,
  ): StepCall<I, R | null>;
  /** Tidies up. A failure does not undo the steps before, so it is not told, but on SQLite. */
  remove<K extends AnyKind, I>(kind: K, where: Site<K, I>): StepCall<I, void>;
}

/** With all that its message needs: the next change may remove the record. */
export interface DecidedEvent {
  type: EventType;
  at: Milliseconds;
  /** Of an application, its name; of an account, its place. */
  name?: string;
  /** Whether it may be told in place of those of the record that are not told yet. Default: beside them. */
  replaces?: boolean;
}

/** An event of a record that is no delivery yet. */
export type Mark = {
  /** Of the record. */
  key: string;
  type: EventType;
  at: Milliseconds;
  /** Of the event. One that is declared has its record's: with the type, that tells it apart. */
  id: string;
  name: string | null;
};

/** What becomes of a record. */
export interface Decision<Record, Result> {
  result: Result;
  /** What becomes different; all of a new record. Default: it stays as it is. */
  put?: Partial<Record>;
  /** Whether a record that was read back shows that this was made. Default: if it has what was put. */
  isMade?(later: Record): boolean;
  /** The event that it is. */
  event?: DecidedEvent;
}

/** What a database has to do: a condition decides in the same write, under any race. */
export interface Adapter extends Shared<'call'> {
  /** Finds one record by its key. Many calls may share one read, so the rest of their condition is the same for all. */
  find<K extends AnyKind, I, N extends Name<K>, R>(
    kind: K,
    where: Site<K, I>,
    fields: readonly N[],
    result: Result<K, N, I, R>,
  ): Call<I & MayBeStale, R | null>;

  /** The records of an index. Ends after `limit`, if the input has one. */
  list<K extends AnyKind, I, N extends Name<K>, R>(
    kind: K,
    where: Site<K, I>,
    fields: readonly N[],
    result: Result<K, N, I, R>,
    options?: ListOptions<K>,
  ): Call<I & { limit?: number }, R[]>;

  /** Counts up to `limit`, and may miss the latest changes. */
  count<K extends AnyKind, I>(kind: K, where: Site<K, I>): Call<I & { limit: number }, number>;

  /** Inserts a record whose key nobody else knows. It is never sent again. */
  insertOnce<K extends AnyKind, I extends Partial<RecordOf<K>>>(
    kind: K,
    options?: WriteOptions<I>,
  ): Call<I, void>;

  /** Inserts those whose key is new. */
  insertNew<K extends AnyKind>(
    kind: K,
    options?: Pick<WriteOptions<never>, 'ends'>,
  ): Call<readonly RecordOf<K>[], void>;

  /**
   * Changes some records of an index, at most `limit`, if the input has one. Returns those that this call has
   * changed; null if none met the condition.
   */
  changeSome<K extends AnyKind, I, N extends Name<K>, R>(
    kind: K,
    of: ChangeSite<K, I>,
    fields: readonly N[],
    result: Result<K, N, I, R>,
    options: ListOptions<K> & WriteOptions<I>,
  ): Call<I & { limit?: number }, R[] | null>;

  /**
   * Changes records, each named by its key, if it meets the condition. Those that share a command are made apart: it
   * has to be harmless that a change is sent twice, and late.
   */
  changeEach<K extends AnyKind, I>(
    kind: K,
    of: ChangeSite<K, I>,
    options?: WriteOptions<I>,
  ): Call<readonly I[], void>;

  /** Removes one record, named by its key, if it meets the condition; null otherwise. */
  remove<K extends AnyKind, I, N extends Name<K>, R>(
    kind: K,
    where: Site<K, I>,
    fields: readonly N[],
    result: Result<K, N, I, R>,
    options?: WriteOptions<I>,
  ): Call<I, R | null>;

  /** Removes all that meet the condition. Returns how many this call has removed, as far as that is known. */
  removeSome<K extends AnyKind, I>(kind: K, where: Site<K, I>): Call<I, number>;

  /** Raises a number that all processes share, or begins it, and returns it. */
  next<K extends AnyKind>(
    kind: K,
    key: string,
    field: Name<K>,
  ): Call<{ above: number; by: number }, number>;

  /**
   * Reads one record, decides what becomes of it, and writes that if the record is still as it was; otherwise all
   * again. For what no condition can say.
   *
   * @param decide - without effects, since it may run several times
   */
  modify<K extends AnyKind, I, R>(
    kind: K,
    key: (input: I) => RecordOf<K>[keyof RecordOf<K>] & string,
    decide: (found: RecordOf<K> | null, input: I) => Decision<RecordOf<K>, R>,
    options?: WriteOptions<I>,
  ): Call<I, R>;

  /** Some events of records of a kind that are no deliveries yet, the oldest or the newest first. */
  listMarks<K extends AnyKind>(
    kind: K,
  ): Call<{ limit: number; isDecisive: boolean; isNewest: boolean }, Mark[]>;

  /** Those of these marks that are still there, each with its record as it is now. */
  findMarked<K extends AnyKind, N extends Name<K>, R>(
    kind: K,
    fields: readonly N[],
    result: (record: Some<K, N>, input: { mark: Mark }) => R,
  ): Call<{ marks: readonly Mark[] }, R[]>;

  removeMarks<K extends AnyKind>(kind: K): Call<{ marks: readonly Mark[] }, void>;

  sequence<I, R>(steps: (steps: Steps) => StepCall<I, R>, options?: WriteOptions<I>): Call<I, R>;
}
