import { DatabaseSync } from 'node:sqlite';
import { StoreProcess } from '@latchkey/store-suite/child';
import { describeFaults, type FaultyDatabase } from '@latchkey/store-suite/faults';
import { describe, vi } from 'vitest';
import { sqliteHarness } from './sqlite-harness.ts';

/** What COMMIT fails with: https://sqlite.org/rescode.html. */
const IOERR = 10;
const IOERR_FSYNC = 1034;

const failure = (errcode: number) => Object.assign(new Error('disk I/O error'), { errcode });

async function faultyDatabase(): Promise<FaultyDatabase> {
  const database = await sqliteHarness.fresh();
  const witness = await database.open({ recordsEvents: true });
  const store = await database.open({ recordsEvents: true });
  const { exec } = DatabaseSync.prototype;
  return {
    ...{ store, witness },
    lose({ how, nth }) {
      let count = 0;
      const lost = { isHit: false, arrive: async () => undefined };
      vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
        this: DatabaseSync,
        sql,
      ) {
        if (sql !== 'COMMIT' || ++count !== nth) return exec.call(this, sql);
        lost.isHit = true;
        if (how === 'after') exec.call(this, sql);
        throw failure(how === 'refused' ? IOERR : IOERR_FSYNC);
      });
      return lost;
    },
    pass: () => void vi.restoreAllMocks(),
    async killed(calls, { nth, how }) {
      const script = new URL(`killed-at-commit.ts?nth=${nth}&how=${how}`, import.meta.url).href;
      const process = await StoreProcess.start({
        ...database,
        nodeArguments: ['--import', script],
      });
      await process.load(calls);
      await process.go().then(
        () => Promise.reject(new Error('The process has lived on.')),
        () => undefined,
      );
    },
    async remove() {
      await Promise.all([store.close(), witness.close()]);
      await database.remove();
    },
  };
}

describe('a commit that fails on SQLite', () =>
  describeFaults({
    fresh: faultyDatabase,
    losses: ['before', 'after', 'refused'],
    isRemote: false,
    // All calls of a turn share a commit.
    kills: [1, 2],
  }));
