import { pastDeadline } from '@latchkey/domain/request-scope';
import type { Input, Source, Term } from '@latchkey/store/condition';
import { gather } from '@latchkey/store/gather';
import type { RecordSite } from '@latchkey/store/sql/statement';
import { byShape, type Statement } from '@latchkey/store/sql/statement';
import type { Database, Row } from './database.ts';
import { dialect } from './dialect.ts';
import { isDatabaseError } from './errors.ts';
import { type Prepared, shared, valuesOfAll } from './statements.ts';

/** Their rows fill few packets, and a statement that fails is made again in so many. */
const MOST_TOGETHER = 256;

type WriteText = (statement: Statement, like: Input) => string;

/** The row of each call. */
function rowsOf(rows: readonly Row[], calls: number): (Row | null)[] {
  const found = new Array<Row | null>(calls).fill(null);
  for (const row of rows) found[row.call - 1] = row;
  return found;
}

/** Finds the record of each call. */
export const foundText = (
  { columns, from, which }: RecordSite,
  statement: Statement,
  like: Input = {},
  fence = dialect.fenced,
) =>
  ` SELECT ${['i.call', ...columns].join(', ')} FROM i CROSS JOIN ${from} WHERE ${which(statement, like)}${fence}`;

/** Reads of a call site: those of one shape share a statement. */
export function sharedReads(
  database: Database,
  terms: readonly Term[],
  write: WriteText,
): (input: Input) => Promise<Row | null> {
  const ask = byShape(terms, (like) => {
    const prepared = shared((statement) => write(statement, like));
    return gather<Input, Row | null>(
      togetherOrAlone(async (inputs) => {
        const rows = await database.tryRead(prepared.text, valuesOfAll(prepared, inputs));
        return rowsOf(rows, inputs.length);
      }),
      { most: MOST_TOGETHER },
    );
  });
  return (input) => ask(input)(input);
}

interface Asked {
  input: Input;
  /** False if it is too late. */
  begin(): boolean;
}

/**
 * Writes of a call site: those of one shape share a statement. It has each key once, and locks the records in the order
 * of their keys: two processes that have the same ones never wait for each other.
 */
export function sharedWrites(
  database: Database,
  terms: readonly Term[],
  key: Source,
  write: WriteText,
): (input: Input, begin: () => boolean) => Promise<Row | null> {
  const make = byShape(terms, (like) => {
    const prepared = shared((statement) => write(statement, like));
    return gather<Asked, Row | null>(
      togetherOrAlone((all) => sendAll(database, prepared, all)),
      { most: MOST_TOGETHER, apart: ({ input }) => key(input) },
    );
  });
  return (input, begin) => make(input)({ input, begin });
}

async function sendAll(
  database: Database,
  prepared: Prepared,
  all: readonly Asked[],
): Promise<Results> {
  let begun: readonly Asked[] = [];
  const rows = await database.send(prepared.text, () => {
    begun = all.filter((one) => one.begin());
    const inputs = begun.map(({ input }) => input);
    return valuesOfAll(prepared, inputs);
  });
  const made = rowsOf(rows, begun.length);
  return all.map((one) => {
    const place = begun.indexOf(one);
    return place === -1 ? Promise.reject(pastDeadline()) : (made[place] ?? null);
  });
}

type Results = (Row | null | Promise<Row | null>)[];

/** If the server refuses what several share, each has its own error, such as the one whose record stays locked. */
const togetherOrAlone =
  <One>(send: (all: readonly One[]) => Promise<Results>) =>
  async (all: readonly One[]): Promise<Results> => {
    try {
      return await send(all);
    } catch (error) {
      if (!isDatabaseError(error) || error.fate !== 'refused' || all.length === 1) throw error;
    }
    let before: Promise<unknown> = Promise.resolve();
    return all.map((one) => {
      const made = before.then(async () => (await send([one]))[0] ?? null);
      before = made.catch(() => undefined);
      return made;
    });
  };
