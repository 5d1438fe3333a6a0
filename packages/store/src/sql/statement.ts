import type { Join, ListOptions, Mark } from '../adapter.ts';
import type { Primitives, Result, Site } from '../call-sites.ts';
import {
  givens,
  type Input,
  keyOf,
  member,
  type Setting,
  type Source,
  type Term,
  termsOf,
} from '../condition.ts';
import { type AnyKind, type FieldType, indexesOf } from '../kind.ts';

/** How one SQL database differs from another. */
export interface Dialect {
  /** @param place - from 1 */
  parameter(place: number, type: FieldType): string;
  encode: Readonly<Record<FieldType, (value: never) => unknown>>;
  decode: Readonly<Record<FieldType, (value: never) => unknown>>;
  /** Equality for which null equals null. */
  isSame: string;
  greatest: string;
  least: string;
  /** The function that has a row with a `value` for each member of a JSON array. */
  eachOf: string;
  /** The function that has a row with `key` and `value` for each member of a JSON object. */
  membersOf: string;
  /** The aggregate that makes a JSON object of names and values. */
  objectOf: string;
  /** A limit that is none. */
  unlimited: number | null;
  /** Behind the name of a table: goes along an index. Left out if the database takes no hint. */
  along?(index: string): string;
  /** Behind the condition of what decides something, and of each write. */
  fenced: string;
  /** In its place, of a write that a failover may lose. */
  unfenced: string;
  /** The column with these members of its JSON object replaced. */
  merge(column: string, members: readonly { name: string; parameter: string }[]): string;
}

/** The first columns of an index, each equal to a value, and the one behind them. */
export interface Along {
  readonly columns: readonly string[];
  readonly values: readonly Source[];
  readonly next: string | undefined;
}

/** A statement of one shape: its words, and what is bound to its parameters. */
export class Statement {
  text = '';
  readonly bind: Source[] = [];
  readonly #dialect: Dialect;
  /** Otherwise an index is used, which may have only what is set: nothing but `=` tells that. */
  #isOfOne = false;
  #along: Along | undefined;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** Binds a value of the call, as a field of this type. */
  parameter(type: FieldType, value: Source): string {
    const encode = this.#dialect.encode[type] as (value: unknown) => unknown;
    return this.raw((input) => {
      const found = value(input);
      return found === null ? null : encode(found);
    }, type);
  }

  /** Binds a member of the call, as a field of this type. */
  given(name: string, type: FieldType): string {
    return this.parameter(type, member(name));
  }

  /** Binds a value as it is. */
  raw(value: Source, type: FieldType): string {
    this.bind.push(value);
    return this.#dialect.parameter(this.bind.length, type);
  }

  /**
   * @param like - a call of this shape
   * @param along - what is compared as one row, for a database that takes no hint: an index of these columns alone
   *   has the bounds and the order
   */
  where(kind: AnyKind, terms: readonly Term[], like: Input, table = '', along?: Along): string {
    this.#isOfOne = keyOf(kind, terms) !== undefined;
    this.#along = along;
    return this.#all(kind, terms, like, table);
  }

  #all(kind: AnyKind, terms: readonly Term[], like: Input, table: string): string {
    const texts = terms.flatMap((term) => this.#term(kind, term, like, table) ?? []);
    return texts.length === 0 ? 'TRUE' : texts.join(' AND ');
  }

  #term(kind: AnyKind, term: Term, like: Input, table: string): string | null {
    if (term.is === 'either') {
      return `(${term.of.map((one) => this.#all(kind, one, like, table)).join(' OR ')})`;
    }
    if (term.is === 'optional') {
      if (isGiven(like, term.given) !== term.isGiven || term.terms.length === 0) return null;
      return this.#all(kind, term.terms, like, table);
    }
    const { name, value } = term;
    const { type, isOptional } = fieldOf(kind, name);
    const column = table + name;
    if (term.is === 'set') return `${column} IS NOT NULL`;
    if (term.isUnset) return `${column} IS NULL`;
    const { columns: first = [], values = [], next } = this.#along ?? {};
    const bounds = (names: readonly string[], sources: readonly Source[]) => ({
      columns: row(names.map((one) => table + one)),
      values: () =>
        row(sources.map((one, n) => this.parameter(fieldOf(kind, names[n] ?? '').type, one))),
      // A database that compares rows does not see that they have no null, as a partial index may want it.
      areSet:
        names.length === 1 ? '' : names.map((one) => ` AND ${table + one} IS NOT NULL`).join(''),
    });
    if (term.is === 'equal' && first.includes(name)) {
      // All of them at once, where the first one stands.
      if (name !== first[0]) return null;
      const along = bounds(first, values);
      return `${along.columns} BETWEEN ${along.values()} AND ${along.values()}${along.areSet}`;
    }
    if (term.is === 'equal') {
      const equals = isOptional && this.#isOfOne ? this.#dialect.isSame : '=';
      return `${column} ${equals} ${this.parameter(type, value)}`;
    }
    if (term.is !== 'oneOf') {
      const before = name === next;
      const along = bounds([...(before ? first : []), name], [...(before ? values : []), value]);
      return `${along.columns} ${comparisons[term.is]} ${along.values()}${along.areSet}`;
    }
    const { length, hasNull } = sizeOf(value, like);
    const members = Array.from({ length }, (_, place) =>
      this.parameter(type, (input) => {
        const given = value(input) as unknown[];
        const all = hasNull ? given.filter(isNotNull) : given;
        return all[Math.min(place, all.length - 1)];
      }),
    );
    const among = length === 0 ? 'FALSE' : `${column} IN (${members.join(', ')})`;
    return hasNull ? `(${column} IS NULL OR ${among})` : among;
  }

  set(kind: AnyKind, settings: readonly Setting[]): string {
    return settings
      .map(({ is, name, value, isValue }) => {
        const { type } = fieldOf(kind, name);
        const given = () => this.parameter(type, value);
        if (!isValue) return `${name} = NULL`;
        if (is === 'set') return `${name} = ${given()}`;
        if (is === 'plus') return `${name} = ${name} + ${given()}`;
        if (is === 'first') return `${name} = coalesce(${name}, ${given()})`;
        if (is === 'merged') {
          const names = Object.keys(value({}) as object);
          const members = names.map((member) => ({
            name: member,
            parameter: this.raw((input) => (value(input) as Input)[member], 'text'),
          }));
          return `${name} = ${this.#dialect.merge(name, members)}`;
        }
        if (is === 'orKept') return `${name} = coalesce(${given()}, ${name})`;
        return `${name} = ${this.#dialect.greatest}(coalesce(${name}, ${given()}), ${given()})`;
      })
      .join(', ');
  }
}

const row = ([first = '', ...others]: readonly string[]) =>
  others.length === 0 ? first : `(${[first, ...others].join(', ')})`;

const comparisons = { moreThan: '>', atLeast: '>=', lessThan: '<' } as const;

function fieldOf(kind: AnyKind, name: string) {
  const field = kind.fields[name];
  if (field === undefined) throw new TypeError(`${kind.name} has no field ${name}.`);
  return field;
}

const isGiven = (input: Input, name: string) => (input[name] ?? null) !== null;

const isNotNull = (one: unknown) => one !== null;

/** Of a list without its nulls. It is filled up with its last value, so that a call site has few statements. */
function sizeOf(value: Source, input: Input): { length: number; hasNull: boolean } {
  const all = (value(input) ?? []) as unknown[];
  const { length } = all.filter(isNotNull);
  const filled = length === 0 ? 0 : 2 ** Math.ceil(Math.log2(length));
  return { length: filled, hasNull: length < all.length };
}

/** An optional condition, or a list. */
type Part = { readonly given: string } | { readonly list: Source };

/**
 * What is prepared for a call site: once for each shape that its calls have.
 *
 * @param prepare - gets a call of the shape
 */
export function byShape<T>(
  terms: readonly Term[],
  prepare: (like: Input) => T,
): (input: Input) => T {
  const shape = shapeOf(terms);
  const prepared = new Map<string, T>();
  return (input) => {
    const key = shape === null ? '' : shape(input);
    const found = prepared.get(key) ?? prepare(input);
    prepared.set(key, found);
    return found;
  };
}

/**
 * What the words of a statement depend on: which optional conditions it has, and how long its lists are.
 *
 * @returns null if nothing does
 */
function shapeOf(terms: readonly Term[]): ((input: Input) => string) | null {
  const parts = partsOf(terms);
  if (parts.length === 0) return null;
  return (input) => {
    let shape = '';
    for (const part of parts) {
      if ('given' in part) shape += isGiven(input, part.given) ? '1' : '0';
      else {
        const { length, hasNull } = sizeOf(part.list, input);
        shape += length + (hasNull ? 'n' : ',');
      }
    }
    return shape;
  };
}

function partsOf(terms: readonly Term[]): Part[] {
  return terms.flatMap((term): Part[] => {
    if (term.is === 'either') return term.of.flatMap(partsOf);
    if (term.is === 'optional') return [{ given: term.given }, ...partsOf(term.terms)];
    return term.is === 'oneOf' ? [{ list: term.value }] : [];
  });
}

// biome-ignore lint/suspicious/noExplicitAny: whoever writes a statement knows what it returns
export type Row = Readonly<Record<string, any>>;

/** Makes a record of a row. */
export function decoderOf(
  dialect: Dialect,
  kind: AnyKind,
  names: readonly string[],
  prefix = '',
): (row: Row) => Record<string, unknown> {
  const columns = names.map((name) => {
    const decode = dialect.decode[fieldOf(kind, name).type as FieldType];
    return { name, column: prefix + name, decode: decode as (value: unknown) => unknown };
  });
  return (row) => {
    const record: Record<string, unknown> = {};
    for (const { name, column, decode } of columns) {
      const value = row[column];
      record[name] = value === null ? null : decode(value);
    }
    return record;
  };
}

/** Reads records together with others, if any, each by the key in a field of its own. */
export function joinsOf(
  dialect: Dialect,
  kind: AnyKind,
  fields: readonly string[],
  joins: Readonly<Record<string, Join>>,
) {
  const others = Object.entries(joins).map(([as, { kind, by, fields }]) => {
    // So PostgreSQL calls it, too.
    const table = as.toLowerCase();
    return {
      as,
      columns: fields.map((name) => `${table}.${name} AS ${table}_${name}`),
      from: ` LEFT JOIN ${kind.name} ${table} ON ${table}.${kind.key} = own.${by}`,
      decode: decoderOf(dialect, kind, fields, `${table}_`),
      names: fields.map((name) => `${table}_${name}`),
    };
  });
  const decodeOwn = decoderOf(dialect, kind, fields);
  const [own, table] = others.length === 0 ? ['', ''] : ['own.', ' own'];
  return {
    own,
    columns: [...fields.map((name) => own + name), ...others.flatMap(({ columns }) => columns)],
    from: kind.name + table + others.map(({ from }) => from).join(''),
    decode(row: Row) {
      const record = decodeOwn(row);
      for (const { as, names, decode } of others) {
        record[as] = names.every((name) => row[name] === null) ? null : decode(row);
      }
      return record;
    },
  };
}

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
  decode(row: Row): Input;
  result: Result;
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
    ...{ terms, columns, from, decode, result },
    which: (statement, like) => statement.where(kind, terms, like, own),
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
export function sqlReads(
  dialect: Dialect,
  { read }: Pick<SqlSender, 'read'>,
): Pick<Primitives, 'list' | 'count' | 'listMarks'> {
  const limited = (statement: Statement) =>
    statement.raw(({ limit }) => limit ?? dialect.unlimited, 'number');

  return {
    list(kind, where, fields, result, { isDecisive = false, ...options } = {}) {
      const terms = termsOf(where(givens));
      const { which, text } = selectionOf(dialect, kind, terms, options);
      const fence = isDecisive ? dialect.fenced : '';
      const decode = decoderOf(dialect, kind, fields);
      return read({
        terms,
        text: (statement, like) =>
          `SELECT ${fields.join(', ')}${text(which(statement, like) + fence, limited(statement))}`,
        result(rows, input) {
          const found: unknown[] = [];
          for (const row of rows) found.push(result(decode(row), input));
          return found;
        },
      });
    },

    count(kind, where) {
      const terms = termsOf(where(givens));
      const { which, text } = selectionOf(dialect, kind, terms);
      return read({
        terms,
        text: (statement, like) =>
          `SELECT count(*) AS found FROM (SELECT 1${text(which(statement, like), limited(statement))}) counted`,
        result: ([row]) => row?.found,
      });
    },

    listMarks({ name }) {
      const id = dialect.decode.id as (value: unknown) => string;
      const listOf = (fence: string, order = '') =>
        read<Input, Mark[]>({
          text: (statement) =>
            `SELECT about, type, at, id, name FROM marks WHERE of = '${name}'${fence} ORDER BY at${order} LIMIT ${limited(statement)}`,
          result: (rows) =>
            rows.map((row) => ({
              ...{ key: id(row.about), id: id(row.id) },
              ...{ type: row.type, at: row.at, name: row.name },
            })),
        });
      const decisive = listOf(dialect.fenced);
      const [oldest, newest] = [listOf(''), listOf('', ' DESC')];
      return (input) => (input.isDecisive ? decisive : input.isNewest ? newest : oldest)(input);
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
    ...{ terms: [], columns, from, decode },
    which: (statement) =>
      `${kind.name}.${kind.key} = ${statement.given('key', 'id')} AND EXISTS (SELECT 1 FROM marks WHERE ${isMark(statement, kind)})`,
    result: (record, mark) => result(record, { mark }),
  };
}
