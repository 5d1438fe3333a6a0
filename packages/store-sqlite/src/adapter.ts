import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { ErrorMembers } from '@latchkey/domain/domain-error';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { Adapter, DecidedEvent, Join, StepCall, Steps } from '@latchkey/store/adapter';
import {
  type AllowedSite,
  type AnyHolder,
  type ChangeSite,
  changeOf,
  type Options,
  type Primitives,
  type Result,
  type Site,
  wholeAdapter,
} from '@latchkey/store/call-sites';
import { type Givens, givens, type Input, type Term, termsOf } from '@latchkey/store/condition';
import type { AnyKind } from '@latchkey/store/kind';
import {
  byShape,
  type Dialect,
  decoderOf,
  isMark,
  joinedSite,
  markedSite,
  nextSite,
  type RecordSite,
  type SqlSender,
  type SqlSite,
  Statement,
  selectionOf,
  sqlReads,
} from '@latchkey/store/sql/statement';
import { retryWhileLocked } from './errors.ts';
import { initiatorRecord, initiatorText } from './rows.ts';

const same = (value: never): unknown => value;

/** A write waits for its disk, whatever the statement says. */
export const dialect: Dialect = {
  parameter: () => '?',
  encode: {
    ...{ bytes: same, text: same, time: same, number: same, flag: Number },
    ...{ id: uuidToBytes, json: JSON.stringify, by: initiatorText as (value: never) => unknown },
  },
  decode: {
    ...{ bytes: same, text: same, time: same, number: same },
    flag: (value: number) => value === 1,
    ...{ id: uuidFromBytes, json: JSON.parse, by: initiatorRecord as (value: never) => unknown },
  },
  isSame: 'IS',
  greatest: 'max',
  least: 'min',
  eachOf: 'json_each',
  membersOf: 'json_each',
  objectOf: 'json_group_object',
  unlimited: -1,
  along: (index) => ` INDEXED BY ${index}`,
  fenced: '',
  unfenced: '',
  merge: (column, members) =>
    `json_set(${[column, ...members.flatMap(({ name, parameter }) => [`'$.${name}'`, parameter])].join(', ')})`,
};

/** A write takes about 20 µs, so so many block the thread for about 5 ms, like a batch of writes. */
const MOST_AT_ONCE = 256;
const mostOf = ({ limit = MOST_AT_ONCE }: Input) => Math.min(Number(limit), MOST_AT_ONCE);

/** Where the statements of calls run. */
export interface Queues {
  read<I extends unknown[], T>(statement: (...input: I) => T, ...input: I): Promise<T>;
  write<I extends unknown[], T>(
    attempt: (...input: I) => T,
    options: { members?: ErrorMembers | undefined; ends?: boolean },
    ...input: I
  ): Promise<T>;
}

/** For a connection of its own: each call is made at once, unless another process has the lock. */
export const alone: Queues = {
  read: (statement, ...input) => retryWhileLocked(() => statement(...input)),
  write: (attempt, _options, ...input) => retryWhileLocked(() => attempt(...input)),
};

type Values = SQLInputValue[];
/** What a call does within a transaction. */
// biome-ignore lint/suspicious/noExplicitAny: whoever makes it knows what it returns
type Work = (input: Input) => any;

const getRow = (prepared: StatementSync, values: Values) => prepared.get(...values);
const allRows = (prepared: StatementSync, values: Values) => prepared.all(...values);
const countChanges = (prepared: StatementSync, values: Values) => prepared.run(...values).changes;

/** The statements of a call site: one for each shape that its calls have, prepared at its first call. */
const statementsIn =
  (database: DatabaseSync) =>
  <T>(
    terms: readonly Term[],
    write: (statement: Statement, like: Input) => string,
    run: (prepared: StatementSync, values: Values) => T,
  ): ((input: Input) => T) => {
    const statementOf = byShape(terms, (like) => {
      const statement = new Statement(dialect);
      const prepared = database.prepare(write(statement, like));
      return { prepared, bind: statement.bind };
    });
    return (input) => {
      const { prepared, bind } = statementOf(input);
      return run(prepared, bind.map((value) => value(input)) as Values);
    };
  };

/** Runs a statement within a transaction, or a read. */
export function workOf<I, R>(
  database: DatabaseSync,
  { terms = [], text, result }: SqlSite<I, R>,
): (input: I) => R {
  const rowsOf = statementsIn(database)(terms, text, allRows);
  return (input) => result(rowsOf(input as Input), input);
}

/** Says how many rows it has changed. */
export const changesOf = (
  database: DatabaseSync,
  text: (statement: Statement) => string,
): ((input: object) => number) => {
  const change = statementsIn(database)([], text, countChanges);
  return (input) => Number(change(input as Input));
};

const reading =
  <I, R>(queues: Queues, work: (input: I) => R) =>
  (input: I): Promise<R> =>
    queues.read(work, input);

export const senderOf = (database: DatabaseSync, queues: Queues): SqlSender => ({
  read: (site) => reading(queues, workOf(database, site)),
  write(site) {
    const work = workOf(database, site);
    return (input) => queues.write(work, {}, input);
  },
});

const whole: Result = (record) => record;
const byKey =
  ({ key }: AnyKind): Site =>
  (given: Givens<{ key: string }>) => ({ [key]: given.key });

/** @param record - records the event of a decision. Default: none is recorded */
export function sqliteAdapter(
  database: DatabaseSync,
  queues: Queues,
  record: (kind: AnyKind, key: string, event: DecidedEvent) => void = () => undefined,
): Adapter {
  const statementsOf = statementsIn(database);
  const sender = senderOf(database, queues);

  function found({ terms, columns, from, which, decode, result }: RecordSite): Work {
    const rowOf = statementsOf(
      terms,
      (statement, like) =>
        `SELECT ${columns.join(', ')} FROM ${from} WHERE ${which(statement, like)}`,
      getRow,
    );
    return one(rowOf, decode, result);
  }

  const one =
    (rowOf: Work, decode: RecordSite['decode'], result: Result): Work =>
    (input) => {
      const row = rowOf(input);
      return row === undefined ? null : result(decode(row), input);
    };

  const joined = (...of: Parameters<Primitives['joined']>) => found(joinedSite(dialect, ...of));

  /** @param unless - no record of these has one of the fields set */
  function change(
    kind: AnyKind,
    of: ChangeSite,
    fields: readonly string[],
    result: Result,
    unless: readonly Join[] = [],
  ): Work {
    const { terms, settings } = changeOf(of);
    const noneHas = unless.map(({ kind: { name, key }, by, fields }) => {
      const has = fields.map((field) => `${name}.${field} IS NOT NULL`).join(' OR ');
      return ` AND NOT EXISTS (SELECT 1 FROM ${name} WHERE ${name}.${key} = ${kind.name}.${by} AND (${has}))`;
    });
    const update = (statement: Statement, like: Input) =>
      `UPDATE ${kind.name} SET ${statement.set(kind, settings)} WHERE ${statement.where(kind, terms, like)}${noneHas.join('')}`;
    if (fields.length === 0) {
      const changes = statementsOf(terms, update, countChanges);
      return (input) => (changes(input) === 0 ? null : result({}, input));
    }
    const rowOf = statementsOf(
      terms,
      (statement, like) => `${update(statement, like)} RETURNING ${fields.join(', ')}`,
      getRow,
    );
    return one(rowOf, decoderOf(dialect, kind, fields), result);
  }

  /** A replacement is an UPDATE, for the triggers of the events. */
  function insert(kind: AnyKind, { isNew = false, replaces = false } = {}): Work {
    const verb = isNew ? 'INSERT OR IGNORE' : 'INSERT';
    const names = Object.keys(kind.fields);
    const byNames = new Map<string, Work>();
    return (record) => {
      // A field that a call leaves out has what its column begins with.
      const given = names.filter((name) => record[name] !== undefined);
      const key = given.join();
      let work = byNames.get(key);
      if (work === undefined) {
        work = statementsOf(
          [],
          (statement) => {
            const values = given.map((name) => statement.given(name, kind.fields[name].type));
            const others = given.filter((name) => name !== kind.key);
            const set = others.map((name) => `${name} = excluded.${name}`);
            const orReplace = ` ON CONFLICT (${kind.key}) DO UPDATE SET ${set.join(', ')}`;
            return `${verb} INTO ${kind.name} (${given.join(', ')}) VALUES (${values.join(', ')})${replaces ? orReplace : ''}`;
          },
          countChanges,
        );
        byNames.set(key, work);
      }
      return work(record);
    };
  }

  function removal(kind: AnyKind, where: Site): Work {
    const terms = termsOf(where(givens));
    return statementsOf(
      terms,
      (statement, like) => `DELETE FROM ${kind.name} WHERE ${statement.where(kind, terms, like)}`,
      countChanges,
    );
  }

  const writing =
    (work: Work, { grant_id, ends = false }: Options = {}) =>
    (input: Input) => {
      const members = grant_id && { grant_id: grant_id(input) };
      return queues.write(work, { ends, members }, input);
    };

  /** Within a transaction, a step is made at once. */
  const step = (work: Work) =>
    // biome-ignore lint/correctness/useYield: on another database, a step waits
    function* (input: Input): Generator<unknown, unknown> {
      return work(input);
    };

  const steps = {
    insertHeld(kind: AnyKind, { kind: holder, by, fields, copy }: AnyHolder) {
      const found = joined(holder, byKey(holder), fields, {}, whole);
      const put = insert(kind);
      return step((record) => {
        const of = found({ key: record[by] });
        const copied = of && copy(of, record);
        if (!copied) return null;
        const complete = { ...record, ...copied };
        put(complete);
        return complete;
      });
    },
    change: (...[kind, of, fields, result]: Parameters<typeof change>) =>
      step(change(kind, of, fields, result)),
    changeAllowed(...[kind, of, fields, seen, result]: AllowedSite) {
      const alone = change(kind, of, fields, result, Object.values(seen.joins));
      const look = joined(kind, seen.where, seen.fields, seen.joins, seen.allows);
      const make = change(kind, of, fields, result);
      return step((input) => alone(input) ?? (look(input) ? make(input) : null));
    },
    joined: (...of: Parameters<typeof joined>) => step(joined(...of)),
    remove: (...of: Parameters<typeof removal>) => step(removal(...of)),
  };

  const primitives: Primitives = {
    ...sqlReads(dialect, sender),
    joined: (...of) => reading(queues, joined(...of)),
    next: (...of) => sender.write(nextSite(dialect, ...of)),

    insertOnce(kind, options) {
      const put = insert(kind);
      return writing((record) => void put(record), options);
    },

    insertNew(kind, options = {}) {
      const put = insert(kind, { isNew: true });
      return (records) => queues.write(() => records.forEach(put), options);
    },

    change: (kind, to, fields, result, options) =>
      writing(change(kind, to, fields, result), options),

    changeSome(kind, to, fields, result, options) {
      const { terms, settings } = changeOf(to);
      const { which, text } = selectionOf(dialect, kind, terms, options);
      const decode = decoderOf(dialect, kind, fields);
      const rowsOf = statementsOf(
        terms,
        (statement, like) => {
          const changes = statement.set(kind, settings);
          const some = text(which(statement, like), statement.raw(mostOf, 'number'));
          return `UPDATE ${kind.name} SET ${changes} WHERE ${kind.key} IN (SELECT ${kind.key}${some}) RETURNING ${fields.join(', ')}`;
        },
        allRows,
      );
      return writing((input) => {
        const records = rowsOf(input).map((row) => result(decode(row), input));
        return records.length === 0 ? null : records;
      }, options);
    },

    changeEach(kind, to, options = {}) {
      const make = change(kind, to, [], whole);
      return async (inputs) => {
        if (inputs.length > 0) await queues.write(() => inputs.forEach(make), options);
      };
    },

    remove(kind, where, fields, result, options) {
      const terms = termsOf(where(givens));
      const decode = decoderOf(dialect, kind, fields);
      const rowOf = statementsOf(
        terms,
        (statement, like) =>
          `DELETE FROM ${kind.name} WHERE ${statement.where(kind, terms, like)} RETURNING ${fields.join(', ')}`,
        getRow,
      );
      return writing(one(rowOf, decode, result), options);
    },

    removeSome(...of) {
      const remove = removal(...of);
      return writing((input) => Number(remove(input)), { ends: true });
    },

    // In one attempt of the group commit, no other write is in between.
    modify(kind, key, decide, options) {
      const found = joined(kind, byKey(kind), Object.keys(kind.fields), {}, whole);
      const put = insert(kind, { replaces: true });
      return writing((input) => {
        const id = key(input);
        const before = found({ key: id });
        const { put: changes, result, event } = decide(before, input);
        if (changes !== undefined) put({ ...before, ...changes });
        // An event that replaces others is left to whoever reads the marks: the last one counts.
        if (event) record(kind, id, event);
        return result;
      }, options);
    },

    findMarked(...of) {
      const find = found(markedSite(dialect, ...of));
      return reading(queues, ({ marks }) => marks.flatMap((mark) => find(mark) ?? []));
    },

    removeMarks(kind) {
      const remove = statementsOf(
        [],
        (statement) => `DELETE FROM marks WHERE ${isMark(statement, kind)}`,
        countChanges,
      );
      return writing(({ marks }) => (marks as Input[]).forEach(remove), { ends: true });
    },
  };

  function sequence(of: (steps: Steps) => StepCall<Input, unknown>, options?: Options) {
    const run = of(steps as unknown as Steps);
    return writing((input) => {
      const { value, done } = run(input).next();
      if (!done) throw new TypeError('A transaction waits for something else.');
      return value;
    }, options);
  }

  return wholeAdapter(primitives, sequence);
}
