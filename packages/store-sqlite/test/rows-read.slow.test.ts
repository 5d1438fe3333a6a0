import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { everyOperation } from '@latchkey/store-suite/every-operation';
import { pastIn } from '@latchkey/store-suite/many-grants';
import { type Answered, manyOfEach, watched } from '@latchkey/store-suite/rows-read';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSqliteStore } from '../src/sqlite-store.ts';
import { openSqliteTarget } from '../src/transfer.ts';
import { isRunnable, record, replay } from './recorded.ts';

// Every operation of the store, and each step behind the requests, on two databases, the second of
// which has twice as much of everything.

const SIZES = [150, 300];

// A row that has 20 columns and is written to seven indexes takes 200 instructions.
const OF_ROW = 300;
// As few as a scan of the keys of what the second database has more.
const SPARE = 250;

interface Call extends Answered {
  instructions: number;
}

describe('SQLite reads the rows that it answers, and few others', () => {
  let directory: string;
  /** What each operation read beyond its rows, at the most, at each size. */
  const walks: Map<string, number>[] = [];
  const operations = new Set<string>();

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'latchkey-rows-'));
    for (const size of SIZES) {
      const path = join(directory, `${size}.db`);
      const past = await pastIn(await openSqliteTarget(path), { grants: 4_000, ofAccount: 1_000 });
      const options = { revokedGrantDays: 1, recordsEvents: true };
      const filled = await openSqliteStore({ path, clock: Date.now, ...options });
      await manyOfEach(filled, past, size);
      await filled.close();
      const copy = join(directory, `${size}-copy.db`);
      await cp(path, copy);

      const recorded = record();
      const store = await openSqliteStore({ path, clock: Date.now, ...options });
      for (const operation of Object.keys(store)) operations.add(operation);
      const { statements } = recorded;
      statements.length = 0;
      const calls: (Answered & { to: number })[] = [];
      const told = watched(store, (answered) => {
        calls.push({ ...answered, to: statements.length });
      });
      await everyOperation(told, past);
      await store.close();
      recorded.stop();
      walks.push(worstOf(readBy(copy, statements, calls)));
    }
  });
  afterAll(() => rm(directory, { recursive: true }));

  function readBy(
    copy: string,
    statements: Parameters<typeof replay>[1],
    calls: readonly (Answered & { to: number })[],
  ): Call[] {
    const replayed = replay(copy, statements);
    let [from, next] = [0, 0];
    return calls.map(({ operation, rows, to }) => {
      let [instructions, changed] = [0, 0];
      for (const [sql] of statements.slice(from, to).filter(([sql]) => isRunnable(sql))) {
        const one = replayed[next++];
        instructions += one?.instructions ?? 0;
        if (!/^\s*(SELECT|WITH)/.test(sql)) changed += one?.rows ?? 0;
      }
      from = to;
      return { operation, rows: rows + changed, instructions };
    });
  }

  function worstOf(calls: readonly Call[]): Map<string, number> {
    const worst = new Map<string, number>();
    for (const { operation, rows, instructions } of calls) {
      const beyond = instructions - OF_ROW * rows;
      worst.set(operation, Math.max(worst.get(operation) ?? 0, beyond));
    }
    return worst;
  }

  test('in every operation, and each step of work', () => {
    const known = new Set(walks.flatMap((walk) => [...walk.keys()]));
    const left = [...operations].filter((name) => !known.has(name));
    expect(left.toSorted()).toEqual(['close', 'doStep', 'housekeeping']);
  });

  test('whatever else there is', () => {
    const [once = new Map(), twice = new Map()] = walks;
    const more = [...twice].filter(
      ([operation, beyond]) => beyond > (once.get(operation) ?? 0) + SPARE,
    );
    // The look at the endpoints, once a minute and behind the requests, has to read each that has something due: any
    // may have been disabled by another process.
    expect(more.map(([operation]) => operation)).toEqual(['endpoints']);
  });
});
