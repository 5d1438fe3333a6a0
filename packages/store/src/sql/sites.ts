import type { Join, ListOptions, Mark } from '../adapter.ts';
import type { AnyCall, Result, Site } from '../call-sites.ts';
import { givens, type Input, type Source, type Term, termsOf } from '../condition.ts';
import { type AnyKind, indexesOf } from '../kind.ts';
import {
  type Along,
  type Dialect,
  decoderOf,
  joinsOf,
  type Row,
  type Statement,
} from './statement.ts';

/** A statement, and what its rows are made into. */
export interface SqlSite<I = Input, R = unknown> {
  terms?: readonly Term[];
  /** @param like - a call of the shape that it has */
  text(statement: Statement, like: Input): string;
  result(rows: readonly Row[], input: I): R;
}

/** The same of a record that is found by its key, so that a database may let calls share a statement. */
export interface RecordSite {
  terms: readonly Term[];
  columns: readonly string[];
  from: string;
  which(statement: Statement, like: Input): string;
  result(row: Row, input: Input): unknown;
}

/** How a database sends statements. */
export interface SqlSender {
  read<I, R>(site: SqlSite<I, R>): (input: I) => Promise<R>;
  write<I, R>(site: SqlSite<I, R>): (input: I) => Promise<R>;
}

export function joinedSite(
  dialect: Dialect,
  kind: AnyKind,
  where: Site,
  fields: readonly string[],
  joins: Readonly<Record<string, Join>>,
  result: Result,
): RecordSite {
  const terms = termsOf(where(givens));
  const { own, columns, from, decode } = joinsOf(dialect, kind, fields, joins);
  return {
    ...{ terms, columns, from },
    which: (statement, like) => statement.where(kind, terms, like, own),
    result: (row, input) => result(decode(row), input),
  };
}

/** The records of an index. */
export function selectionOf(
  { along: hint }: Dialect,
  kind: AnyKind,
  terms: readonly Term[],
  options: Pick<ListOptions<AnyKind>, 'index' | 'order'> = {},
) {
  const { index, order } = options;
  const along = hint ? undefined : alongOf(kind, terms, options);
  const from = kind.name + ((index && hint?.(index)) ?? '');
  const direction = order?.descending ? ' DESC' : '';
  const by = order && [...(along?.columns ?? []), ...order.by];
  const sorted = by ? ` ORDER BY ${by.map((name) => name + direction).join(', ')}` : '';
  return {
    which: (statement: Statement, like: Input, table = '') =>
      statement.where(kind, terms, like, table, along),
    /** From the FROM on. */
    text: (which: string, limit: string) => ` FROM ${from} WHERE ${which}${sorted} LIMIT ${limit}`,
  };
}

/**
 * Without a hint, the newest records of one account would be looked for along the key of all, once some account has
 * many. What is ordered by the columns of an index, from the first on, can go along no other.
 */
function alongOf(
  kind: AnyKind,
  terms: readonly Term[],
  { index, order }: Pick<ListOptions<AnyKind>, 'index' | 'order'>,
): Along | undefined {
  const named = indexesOf(kind, { withOptional: true }).find(({ name }) => name === index);
  const [next] = order?.by ?? [];
  if (!named || next === undefined) return undefined;
  const on = named.on.filter((name) => !named.where?.unset?.includes(name));
  const columns = on.slice(0, Math.max(0, on.indexOf(next)));
  const values = columns.flatMap(
    (name) =>
      terms.find((term) => term.is === 'equal' && term.name === name && !term.isUnset) ?? [],
  );
  if (columns.length === 0 || values.length < columns.length) return undefined;
  return { columns, next, values: values.map((term) => (term as { value: Source }).value) };
}

/** What an adapter reads by an index. */
export function sqlReads(dialect: Dialect, { read }: Pick<SqlSender, 'read'>) {
  const limited = (statement: Statement) =>
    statement.raw(({ limit }) => limit ?? dialect.unlimited, 'number');

  return {
    list(
      kind: AnyKind,
      where: Site,
      fields: readonly string[],
      result: Result,
      { isDecisive = false, ...options }: ListOptions<AnyKind> = {},
    ): AnyCall<unknown[]> {
      const terms = termsOf(where(givens));
      const { which, text } = selectionOf(dialect, kind, terms, options);
      const fence = isDecisive ? dialect.fenced : '';
      const decode = decoderOf(dialect, kind, fields);
      return read({
        terms,
        text: (statement, like) =>
          `SELECT ${fields.join(', ')}${text(which(statement, like) + fence, limited(statement))}`,
        result: (rows, input) => rows.map((row) => result(decode(row), input)),
      });
    },

    count(kind: AnyKind, where: Site): AnyCall<number> {
      const terms = termsOf(where(givens));
      const { which, text } = selectionOf(dialect, kind, terms);
      return read({
        terms,
        text: (statement, like) =>
          `SELECT count(*) AS found FROM (SELECT 1${text(which(statement, like), limited(statement))}) counted`,
        result: ([row]) => row?.found,
      });
    },

    listMarks({ name }: AnyKind): AnyCall<Mark[]> {
      const id = dialect.decode.id as (value: unknown) => string;
      const listOf = (fence: string) =>
        read<Input, Mark[]>({
          text: (statement) =>
            `SELECT about, type, at, id, name FROM marks WHERE of = '${name}'${fence} ORDER BY at LIMIT ${limited(statement)}`,
          result: (rows) =>
            rows.map((row) => ({
              ...{ key: id(row.about), id: id(row.id) },
              ...{ type: row.type, at: row.at, name: row.name },
            })),
        });
      const [decisive, plain] = [listOf(dialect.fenced), listOf('')];
      return (input) => (input.isDecisive ? decisive : plain)(input);
    },
  };
}

/** A number that is taken and lost is one that nobody has. */
export const nextSite = (
  { greatest, fenced }: Dialect,
  { name, key }: AnyKind,
  of: string,
  field: string,
): SqlSite<Input, number> => ({
  text(statement) {
    const above = () => statement.given('above', 'number');
    const by = () => statement.given('by', 'number');
    return `INSERT INTO ${name} AS own (${key}, ${field}) SELECT '${of}', ${above()} + ${by()} WHERE TRUE${fenced}
      ON CONFLICT (${key}) DO UPDATE SET ${field} = ${greatest}(own.${field}, ${above()}) + ${by()} RETURNING ${field} AS taken`;
  },
  result: ([row]) => row?.taken,
});

/** The condition that a mark of the call is. */
export const isMark = (statement: Statement, { name }: AnyKind) =>
  `marks.of = '${name}' AND marks.at = ${statement.given('at', 'time')} AND marks.id = ${statement.given('id', 'id')} AND marks.type = ${statement.given('type', 'text')}`;

/** The record of a mark that is still there. The calls are marks. */
export function markedSite(
  dialect: Dialect,
  kind: AnyKind,
  fields: readonly string[],
  result: Result,
): RecordSite {
  const { columns, from, decode } = joinsOf(dialect, kind, fields, {});
  return {
    ...{ terms: [], columns, from },
    which: (statement) =>
      `${kind.name}.${kind.key} = ${statement.given('key', 'id')} AND EXISTS (SELECT 1 FROM marks WHERE ${isMark(statement, kind)})`,
    result: (row, mark) => result(decode(row), { mark }),
  };
}
