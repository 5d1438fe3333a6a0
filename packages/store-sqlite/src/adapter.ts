import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { ErrorMembers } from '@latchkey/domain/domain-error';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type {
  Adapter,
  DecidedEvent,
  Decision,
  Holder,
  Join,
  ListOptions,
  Mark,
  Steps,
  WriteOptions,
} from '@latchkey/store/adapter';
import {
  type Changes,
  type Givens,
  givens,
  type Input,
  settingsOf,
  type Term,
  termsOf,
  type Where,
} from '@latchkey/store/condition';
import type { AnyKind, Field, RecordOf } from '@latchkey/store/kind';
import { byShape, type Dialect, decoderOf, joinsOf, Statement } from '@latchkey/store/sql';
import { prepareFindMarked, prepareListMarks, prepareRemoveMark } from './marks.ts';
import { initiatorRecord, initiatorText } from './rows.ts';

const same = (value: never): unknown => value;

export const dialect: Dialect = {
  parameter: () => '?',
  encode: {
    id: uuidToBytes,
    bytes: same,
    text: same,
    time: same,
    number: same,
    flag: Number,
    json: JSON.stringify,
    by: initiatorText as (value: never) => unknown,
  },
  decode: {
    id: uuidFromBytes,
    bytes: same,
    text: same,
    time: same,
    number: same,
    flag: (value: number) => value === 1,
    json: JSON.parse,
    by: initiatorRecord as (value: never) => unknown,
  },
  isSame: 'IS',
  greatest: 'max',
  merge: (column, members) =>
    `json_set(${[column, ...members.flatMap(({ name, parameter }) => [`'$.${name}'`, parameter])].join(', ')})`,
};

/** The columns of a record. What it leaves out has what its column begins with. */
export const rowOf =
  ({ fields }: AnyKind) =>
  (record: Input): Record<string, SQLInputValue> =>
    Object.fromEntries(
      Object.entries(record).map(([name, value]) => {
        const encode = dialect.encode[(fields[name] as Field<unknown>).type] as typeof same;
        return [name, (value === null ? null : encode(value as never)) as SQLInputValue];
      }),
    );

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

/** For a database that nobody else uses. */
export const alone: Queues = {
  read: async (statement, ...input) => statement(...input),
  write: async (attempt, _options, ...input) => attempt(...input),
};

type Row = Record<string, unknown>;
type Values = SQLInputValue[];
/** What a call does within a transaction. */
type Work = (input: Input) => unknown;
type Result = (record: never, input: never) => unknown;
type WhereOf = (given: never) => Where<AnyKind>;
type ChangeOf = (given: never) => { where: Where<AnyKind>; set: Changes<AnyKind> };
type Options = WriteOptions<never>;

const byKey =
  ({ key }: AnyKind): WhereOf =>
  (given: Givens<{ key: string }>) => ({ [key]: given.key });

/** @param record - records the event of a decision. Default: none is recorded */
export function sqliteAdapter(
  database: DatabaseSync,
  queues: Queues,
  record: (kind: AnyKind, key: string, event: DecidedEvent) => void = () => undefined,
): Adapter {
  /** A call is prepared at its first use: a command makes few calls. */
  function atFirstUse(prepare: () => Work): Work {
    let work: Work | undefined;
    return (input) => {
      work ??= prepare();
      return work(input);
    };
  }

  /** The statements of a call site: one for each shape that its calls have. */
  function statementsOf(
    terms: readonly Term[],
    write: (statement: Statement, like: Input) => string,
    run: (prepared: StatementSync, values: Values) => unknown,
  ): Work {
    const statementOf = byShape(terms, (like) => {
      const statement = new Statement(dialect);
      const prepared = database.prepare(write(statement, like));
      return { prepared, bind: statement.bind };
    });
    return (input) => {
      const { prepared, bind } = statementOf(input);
      return run(prepared, bind.map((value) => value(input)) as Values);
    };
  }

  const getRow = (prepared: StatementSync, values: Values) => prepared.get(...values);
  const allRows = (prepared: StatementSync, values: Values) => prepared.all(...values);
  const countChanges = (prepared: StatementSync, values: Values) => prepared.run(...values).changes;

  const one =
    (rowOf: Work, decode: (row: Row) => Row, result: Result): Work =>
    (input) => {
      const row = rowOf(input) as Row | undefined;
      return row === undefined ? null : result(decode(row) as never, input as never);
    };

  const many =
    (rowsOf: Work, decode: (row: Row) => Row, result: Result): Work =>
    (input) =>
      (rowsOf(input) as Row[]).map((row) => result(decode(row) as never, input as never));

  const find = (kind: AnyKind, where: WhereOf, fields: readonly string[], result: Result) =>
    atFirstUse(() => {
      const terms = termsOf(where(givens));
      const rowOf = statementsOf(
        terms,
        (statement, like) =>
          `SELECT ${fields.join(', ')} FROM ${kind.name} WHERE ${statement.where(kind, terms, like)}`,
        getRow,
      );
      return one(rowOf, decoderOf(dialect, kind, fields), result);
    });

  function change(kind: AnyKind, of: ChangeOf, fields: readonly string[], result: Result): Work {
    return atFirstUse(() => {
      const { where, set } = of(givens);
      const terms = termsOf(where);
      const settings = settingsOf(set);
      const update = (statement: Statement, like: Input) =>
        `UPDATE ${kind.name} SET ${statement.set(kind, settings)} WHERE ${statement.where(kind, terms, like)}`;
      if (fields.length === 0) {
        const changes = statementsOf(terms, update, countChanges);
        return (input) => (changes(input) === 0 ? null : result({} as never, input as never));
      }
      const rowOf = statementsOf(
        terms,
        (statement, like) => `${update(statement, like)} RETURNING ${fields.join(', ')}`,
        getRow,
      );
      return one(rowOf, decoderOf(dialect, kind, fields), result);
    });
  }

  /** The records of an index, from its WHERE on. */
  function selection(
    statement: Statement,
    kind: AnyKind,
    terms: readonly Term[],
    like: Input,
    { index, order }: ListOptions<AnyKind>,
  ): string {
    const along = index === undefined ? '' : ` INDEXED BY ${index}`;
    const direction = order?.descending ? ' DESC' : '';
    const sorted = order
      ? ` ORDER BY ${order.by.map((name) => String(name) + direction).join(', ')}`
      : '';
    return ` FROM ${kind.name}${along} WHERE ${statement.where(kind, terms, like)}${sorted}`;
  }

  /** Without a limit, SQLite has none below zero. */
  const limitOf = (statement: Statement) =>
    ` LIMIT ${statement.raw(({ limit }) => limit ?? -1, 'number')}`;

  function joined(
    kind: AnyKind,
    where: WhereOf,
    fields: readonly string[],
    joins: Record<string, Join>,
    result: Result,
  ): Work {
    return atFirstUse(() => {
      const terms = termsOf(where(givens));
      const { columns, from, decode } = joinsOf(dialect, kind, fields, joins);
      const rowOf = statementsOf(
        terms,
        (statement, like) =>
          `SELECT ${columns.join(', ')} FROM ${from} WHERE ${statement.where(kind, terms, like, 'own.')}`,
        getRow,
      );
      return one(rowOf, decode, result);
    });
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
            const values = given.map((name) =>
              statement.parameter(kind.fields[name].type, (record) => record[name]),
            );
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

  function removal(kind: AnyKind, where: WhereOf, fields: readonly string[], result: Result): Work {
    return atFirstUse(() => {
      const terms = termsOf(where(givens));
      const rowOf = statementsOf(
        terms,
        (statement, like) =>
          `DELETE FROM ${kind.name} WHERE ${statement.where(kind, terms, like)} RETURNING ${fields.join(', ')}`,
        getRow,
      );
      return one(rowOf, decoderOf(dialect, kind, fields), result);
    });
  }

  function removalOfAll(kind: AnyKind, where: WhereOf): Work {
    return atFirstUse(() => {
      const terms = termsOf(where(givens));
      return statementsOf(
        terms,
        (statement, like) => `DELETE FROM ${kind.name} WHERE ${statement.where(kind, terms, like)}`,
        countChanges,
      );
    });
  }

  const reading = (work: Work) => (input: Input) => queues.read(work, input);

  const writing =
    (work: Work, { grant_id, ends = false }: Options = {}) =>
    (input: Input) => {
      const members = grant_id && { grant_id: grant_id(input as never) };
      return queues.write(work, { ends, members }, input);
    };

  /** Within a transaction, a step is made at once. */
  const step = (work: Work) =>
    // biome-ignore lint/correctness/useYield: on another database, a step waits
    function* (input: Input): Generator<unknown, unknown> {
      return work(input);
    };

  const steps = {
    insertHeld(
      kind: AnyKind,
      { kind: holder, by, fields, copy }: Holder<AnyKind, AnyKind, never, never>,
    ) {
      const found = find(holder, byKey(holder), fields, same);
      const put = insert(kind);
      return step((record) => {
        const of = found({ key: record[by] });
        const copied = of && copy(of as never, record as never);
        if (!copied) return null;
        const whole = { ...record, ...(copied as RecordOf<AnyKind>) };
        put(whole);
        return whole;
      });
    },
    change: (kind: AnyKind, of: ChangeOf, fields: readonly string[], result: Result) =>
      step(change(kind, of, fields, result)),
    joined: (...of: Parameters<typeof joined>) => step(joined(...of)),
    remove: (kind: AnyKind, where: WhereOf) => step(removalOfAll(kind, where)),
  };

  const adapter = {
    find: (kind: AnyKind, where: WhereOf, fields: readonly string[], result: Result) =>
      reading(find(kind, where, fields, result)),

    joined: (...of: Parameters<typeof joined>) => reading(joined(...of)),

    list(
      kind: AnyKind,
      where: WhereOf,
      fields: readonly string[],
      result: Result,
      options: ListOptions<AnyKind> = {},
    ) {
      return reading(
        atFirstUse(() => {
          const terms = termsOf(where(givens));
          const rowsOf = statementsOf(
            terms,
            (statement, like) =>
              `SELECT ${fields.join(', ')}${selection(statement, kind, terms, like, options)}${limitOf(statement)}`,
            allRows,
          );
          return many(rowsOf, decoderOf(dialect, kind, fields), result);
        }),
      );
    },

    count(kind: AnyKind, where: WhereOf) {
      return reading(
        atFirstUse(() => {
          const terms = termsOf(where(givens));
          const rowOf = statementsOf(
            terms,
            (statement, like) =>
              `SELECT count(*) AS found FROM (SELECT 1${selection(statement, kind, terms, like, {})}${limitOf(statement)})`,
            getRow,
          );
          return (input) => (rowOf(input) as { found: number }).found;
        }),
      );
    },

    insertOnce(kind: AnyKind, options?: Options) {
      const put = insert(kind);
      return writing((record) => void put(record), options);
    },

    insertNew(kind: AnyKind, options: Options = {}) {
      const put = insert(kind, { isNew: true });
      return (records: readonly Input[]) =>
        queues.write(() => {
          for (const record of records) put(record);
        }, options);
    },

    change: (
      kind: AnyKind,
      of: ChangeOf,
      fields: readonly string[],
      result: Result,
      options?: Options,
    ) => writing(change(kind, of, fields, result), options),

    changeSome(
      kind: AnyKind,
      of: ChangeOf,
      fields: readonly string[],
      result: Result,
      options: ListOptions<AnyKind> & Options,
    ) {
      return writing(
        atFirstUse(() => {
          const { where, set } = of(givens);
          const terms = termsOf(where);
          const settings = settingsOf(set);
          const rowsOf = statementsOf(
            terms,
            (statement, like) =>
              `UPDATE ${kind.name} SET ${statement.set(kind, settings)} WHERE ${kind.key} IN (SELECT ${kind.key}${selection(statement, kind, terms, like, options)} LIMIT ${statement.raw(mostOf, 'number')}) RETURNING ${fields.join(', ')}`,
            allRows,
          );
          const changed = many(rowsOf, decoderOf(dialect, kind, fields), result);
          return (input) => {
            const records = changed(input) as unknown[];
            return records.length === 0 ? null : records;
          };
        }),
        options,
      );
    },

    changeEach(kind: AnyKind, of: ChangeOf, options: Options = {}) {
      const make = change(kind, of, [], same);
      return async (inputs: readonly Input[]) => {
        if (inputs.length === 0) return;
        await queues.write(() => {
          for (const input of inputs) make(input);
        }, options);
      };
    },

    remove: (
      kind: AnyKind,
      where: WhereOf,
      fields: readonly string[],
      result: Result,
      options?: Options,
    ) => writing(removal(kind, where, fields, result), options),

    removeSome(kind: AnyKind, where: WhereOf) {
      const remove = removalOfAll(kind, where);
      return writing((input) => Number(remove(input)), { ends: true });
    },

    next(kind: AnyKind, key: string, field: string) {
      return writing(
        atFirstUse(() => {
          const rowOf = statementsOf(
            [],
            (statement) => {
              const sum = statement.raw(
                ({ above, by }) => (above as number) + (by as number),
                'number',
              );
              const above = statement.raw(({ above }) => above, 'number');
              const by = statement.raw(({ by }) => by, 'number');
              return `INSERT INTO ${kind.name} (${kind.key}, ${field}) VALUES ('${key}', ${sum})
                ON CONFLICT (${kind.key}) DO UPDATE SET ${field} = max(${field}, ${above}) + ${by} RETURNING ${field}`;
            },
            getRow,
          );
          return (input) => (rowOf(input) as Row)[field];
        }),
      );
    },

    // In one attempt of the group commit, no other write is in between.
    modify(
      kind: AnyKind,
      key: (input: never) => string,
      decide: (found: never, input: never) => Decision<Input, unknown>,
      options?: Options,
    ) {
      const found = find(kind, byKey(kind), Object.keys(kind.fields), same);
      const put = insert(kind, { replaces: true });
      return writing((input) => {
        const id = key(input as never);
        const before = found({ key: id });
        const { put: replacement, result, event } = decide(before as never, input as never);
        if (replacement !== undefined) put(replacement);
        // An event that replaces others, or ends them, is left to whoever reads the marks: the last one counts.
        if (event) record(kind, id, event);
        return result;
      }, options);
    },

    listMarks(kind: AnyKind) {
      return reading(
        atFirstUse(() => {
          const list = prepareListMarks(database, kind);
          return ({ limit }) => list(Number(limit));
        }),
      );
    },

    findMarked(kind: AnyKind, fields: readonly string[], result: Result) {
      return reading(
        atFirstUse(() => {
          const find = prepareFindMarked(database, kind, fields);
          const decode = decoderOf(dialect, kind, fields);
          return ({ marks }) =>
            (marks as readonly Mark[]).flatMap((mark) => {
              const row = find(mark);
              return row ? [result(decode(row) as never, { mark } as never)] : [];
            });
        }),
      );
    },

    removeMarks(kind: AnyKind) {
      return writing(
        atFirstUse(() => {
          const remove = prepareRemoveMark(database, kind);
          return ({ marks }) => {
            for (const mark of marks as readonly Mark[]) remove(mark);
          };
        }),
        { ends: true },
      );
    },

    sequence(
      of: (steps: Steps) => (input: Input) => Generator<unknown, unknown>,
      options?: Options,
    ) {
      return writing(
        atFirstUse(() => {
          const run = of(steps as never);
          return (input) => {
            const { value, done } = run(input).next();
            if (!done) throw new TypeError('A transaction waits for something else.');
            return value;
          };
        }),
        options,
      );
    },
  };
  return adapter as never;
}
