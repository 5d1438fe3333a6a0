import { longer, slow } from '@latchkey/test-kit/long';
import { describeWithMongod } from '@latchkey/test-kit/mongodb/describe';
import { describeWithPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sqliteDatabase } from '../http/databases.ts';
import { check } from './checker.ts';
import { byGrant } from './grant-calls.ts';
import type { Call, History } from './history.ts';
import { type HarmedServers, harmedMongodb, harmedPostgresql } from './nemesis.ts';
import { isBefore } from './outcomes.ts';
import { reportViolations } from './report.ts';
import { type RunOptions, runLoad } from './run.ts';

const FILE = 'apps/server/test/history/history.test.ts';
const given = process.env.HISTORY_SEED;
const firstSeed = given ? Number(given) : Math.floor(Math.random() * 1e9);
const RUNS = given ? 1 : longer(1, 20);
const CODES = longer(80, 200);
const seeds = Array.from({ length: RUNS }, (_, index) => firstSeed + index);

// A run takes seconds; on a machine that is busy with other things, many.
const options = { timeout: longer(600_000, 1_200_000) };

const LOADS = 3;

/**
 * Runs the load of a seed and finds nothing wrong with what was answered. If too little met, because the machine
 * was busy, this proves nothing: then the load of the next seed runs, which is held to the same.
 *
 * @param loadOf - with a database of its own
 */
async function proveSound(
  store: string,
  seed: number,
  loadOf: (seed: number) => Promise<RunOptions>,
): Promise<void> {
  for (let loads = 1; ; loads += 1) {
    const load = await loadOf(seed + loads - 1);
    const history = await soundHistory(store, load);
    try {
      expectRaces(history, load.codes);
      return;
    } catch (error) {
      if (loads === LOADS) throw error;
    }
  }
}

async function soundHistory(store: string, load: RunOptions): Promise<History> {
  const result = await runLoad(load);
  const { history } = result;
  process.stderr.write(`history on ${store}: seed ${load.seed}, ${history.length} calls\n`);
  const violations = check(history);
  if (violations.length > 0) {
    const command = longer(0, 1) ? 'npm run test:long' : 'npm run test:all';
    const rerun = `HISTORY_SEED=${load.seed} ${command} -- ${FILE} -t '${store}'`;
    expect.fail(await reportViolations(violations, result, rerun));
  }
  return history;
}

/** A history in which nothing met anything would prove nothing. */
function expectRaces(history: History, codes: number): void {
  // Commonly it is a quarter of the codes and more; on a machine with no time to spare, fewer.
  const enough = codes / 10;
  const grants = [...byGrant(history).values()];
  const raced = grants.filter(({ converts: [first, ...others] }) =>
    others.some((other) => first && other.start < (first.end ?? first.start)),
  );
  expect(raced.length).toBeGreaterThan(enough);
  for (const operation of ['convert', 'recover', 'revoke', 'authenticate']) {
    const calls = history.filter((call) => call.operation === operation);
    expect(calls.filter(({ answer }) => answer?.status === 200).length).toBeGreaterThan(enough);
  }
  expect(history.some(({ answer }) => answer === null)).toBe(true);
  // Over both routes at once, and with a wrong verifier beside the right one.
  const meets = (one: Call, other: Call) =>
    one.start < (other.end ?? other.start) && other.start < (one.end ?? one.start);
  const isToken = ({ wire }: Call) => wire === 'form';
  const overBoth = grants.filter(({ converts }) =>
    converts.some((one) =>
      converts.some((other) => isToken(one) && !isToken(other) && meets(one, other)),
    ),
  );
  expect(overBoth.length).toBeGreaterThan(0);
  const mistaken = grants.filter(({ converts, mistakes }) =>
    mistakes.some((one) => converts.some((other) => meets(one, other))),
  );
  expect(mistaken.length).toBeGreaterThan(0);
  const usedAfterRevocation = grants.filter(({ revokes, authentications }) =>
    revokes.some((revoke) => authentications.some((use) => isBefore(revoke, use))),
  );
  expect(usedAfterRevocation.length).toBeGreaterThan(enough);
  const keysInRaces = grants.filter(({ keyUses, keyDeletions }) =>
    keyDeletions.some((deletion) => keyUses.some((use) => meets(deletion, use))),
  );
  expect(keysInRaces.length).toBeGreaterThan(0);
  for (const of of ['d', 'r']) {
    const putsInRaces = grants.filter(({ puts, reads }) =>
      puts.some((put) => put.grant.startsWith(of) && reads.some((read) => meets(put, read))),
    );
    expect(putsInRaces.length).toBeGreaterThan(0);
  }
  const repeated = grants.filter(({ hears }) => hears.some(({ answer }) => !answer?.accepted));
  expect(repeated.length).toBeGreaterThan(0);
  expect(grants.filter(({ hears }) => hears.length > 0).length).toBeGreaterThan(enough);
}

describe('two servers that are killed and stopped under load, on SQLite', options, () => {
  test.each(seeds)('keep what they promise, seed %i', async (seed) => {
    await proveSound('SQLite', seed, async (seed) => {
      const { url: databaseUrl, remove } = await sqliteDatabase();
      onTestFinished(remove);
      return { seed, databaseUrl, codes: CODES, faults: longer(3, 10) };
    });
  });
});

/** The same while the servers of a database are harmed. */
function describeHarmed(name: string, faults: number, start: () => Promise<HarmedServers>): void {
  describe(`and their database of ${name},`, slow, () => {
    let servers: HarmedServers;
    beforeAll(async () => {
      servers = await start();
    });
    afterAll(() => servers?.stop());

    test.each(seeds)('keep what they promise, seed %i', options, async (seed) => {
      await proveSound(name, seed, async (seed) => {
        const { url: databaseUrl, remove } = await servers.fresh();
        onTestFinished(remove);
        return { seed, databaseUrl, codes: CODES, faults, databaseFaults: servers.faults };
      });
    });
  });
}

const title = 'two servers that are killed and stopped under load,';

describeWithMongod(title, (mongod) => {
  describeHarmed('one node', longer(4, 10), () => harmedMongodb(mongod, { members: 1 }));
  describeHarmed('three nodes', longer(6, 15), () => harmedMongodb(mongod, { members: 3 }));
});

describeWithPostgresql(title, (programs) => {
  describeHarmed('a primary and a standby', longer(7, 18), () => harmedPostgresql(programs));
});
