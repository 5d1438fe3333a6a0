import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { longer } from '@latchkey/test-kit/long';
import { describeWithMongod } from '@latchkey/test-kit/mongodb/describe';
import { describeWithPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { check } from '../checker.ts';
import {
  type DatabaseFaults,
  type HarmedServers,
  harmedMongodb,
  harmedPostgresql,
} from '../nemesis.ts';
import { type RunOptions, runLoad } from '../run.ts';
import type { PlantName } from './plant.ts';

const script = fileURLToPath(new URL('./server.ts', import.meta.url));
const CODES = 50;
const TRIES = 8;
const BEHIND_MS = 1_000;
const options = { timeout: longer(900_000, 1_200_000) };

async function violationsOf(
  { fresh }: HarmedServers,
  plant: PlantName,
  load: Pick<RunOptions, 'faults' | 'databaseFaults'> & Partial<RunOptions>,
) {
  const { url: databaseUrl, remove } = await fresh();
  onTestFinished(remove);
  const server = { script, environment: { PLANT: plant } };
  const { history } = await runLoad({ seed: 1, codes: CODES, ...load, databaseUrl, server });
  return check(history);
}

/** @param fault - one that only a fence withstands */
async function seeItMissing(servers: HarmedServers, fault: DatabaseFaults): Promise<void> {
  let violations: unknown[] = [];
  for (let seed = 1; violations.length === 0 && seed <= TRIES; seed++) {
    const load = { seed, faults: 4, databaseFaults: fault };
    violations = await violationsOf(servers, 'without-fence', load);
  }
  expect(violations).not.toEqual([]);
}

describeWithMongod('two servers that read from the secondaries of a set of three,', (mongod) => {
  let servers: Awaited<ReturnType<typeof harmedMongodb>>;
  beforeAll(async () => {
    servers = await harmedMongodb(mongod, { members: 3 });
  });
  afterAll(() => servers?.stop());

  /** By itself, a secondary hardly ever falls behind. */
  async function holdBack(): Promise<void> {
    const primary = await servers.set.primary();
    const secondary = servers.set.members.find((member) => member !== primary);
    const setApplying = (mode: 'alwaysOn' | 'off') =>
      secondary?.command({ configureFailPoint: 'rsSyncApplyStop', mode });
    await setApplying('alwaysOn');
    await sleep(BEHIND_MS);
    await setApplying('off');
  }

  test('without a fence, are seen to break rules', options, () =>
    seeItMissing(servers, { 'a secondary that is behind': holdBack }),
  );

  test('behind a fence, keep what they promise, while the primary changes', options, async () => {
    const faults = longer(5, 15);
    const load = { codes: longer(CODES, 200), faults, databaseFaults: servers.faults };
    expect(await violationsOf(servers, 'fence-and-secondary', load)).toEqual([]);
  });
});

describeWithPostgresql('two servers that reach a primary and its successor,', (programs) => {
  let servers: HarmedServers;
  beforeAll(async () => {
    servers = await harmedPostgresql(programs);
  });
  afterAll(() => servers?.stop());

  test('without a fence, are seen to break rules', options, () => {
    const name = 'promotion beside the primary';
    return seeItMissing(servers, { [name]: servers.faults[name] as () => Promise<void> });
  });
});
