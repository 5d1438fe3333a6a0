import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { longer } from '@latchkey/test-kit/long';
import { describeWithMongod } from '@latchkey/test-kit/mongodb/describe';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import { dropDatabase, freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { check } from '../checker.ts';
import { faultsOf } from '../nemesis.ts';
import { type RunOptions, type RunResult, runLoad } from '../run.ts';
import type { PlantName } from './plant.ts';

const script = fileURLToPath(new URL('./server.ts', import.meta.url));
const CODES = 50;
const TRIES = 8;
const BEHIND_MS = 1_000;
const options = { timeout: longer(900_000, 1_200_000) };

describeWithMongod('two servers that read from the secondaries of a set of three,', (mongod) => {
  let set: ReplicaSet;
  beforeAll(async () => {
    set = await ReplicaSet.start(mongod, { members: 3 });
  });
  afterAll(() => set.stop());

  function runPlant(plant: PlantName, load: Partial<RunOptions>): Promise<RunResult> {
    const database = freshName();
    onTestFinished(() => dropDatabase(set.url, database));
    const server = { script, environment: { PLANT: plant } };
    const databaseUrl = urlOf(set.url, database);
    return runLoad({ ...{ seed: 1, codes: CODES, faults: 0 }, ...load, databaseUrl, server });
  }

  /** By itself, a secondary hardly ever falls behind. */
  async function holdBack(): Promise<void> {
    const primary = await set.primary();
    const secondary = set.members.find((member) => member !== primary);
    const setApplying = (mode: 'alwaysOn' | 'off') =>
      secondary?.command({ configureFailPoint: 'rsSyncApplyStop', mode });
    await setApplying('alwaysOn');
    await sleep(BEHIND_MS);
    await setApplying('off');
  }

  test('without a fence, are seen to break rules', options, async () => {
    const databaseFaults = { 'a secondary that is behind': holdBack };
    let violations: unknown[] = [];
    for (let seed = 1; violations.length === 0 && seed <= TRIES; seed++) {
      const load = { seed, faults: 4, databaseFaults };
      violations = check((await runPlant('without-fence', load)).history);
    }
    expect(violations).not.toEqual([]);
  });

  test('behind a fence, keep what they promise, while the primary changes', options, async () => {
    const faults = longer(5, 15);
    const { history } = await runPlant('fence-and-secondary', {
      ...{ codes: longer(CODES, 200), faults, databaseFaults: faultsOf(set) },
    });
    expect(check(history)).toEqual([]);
  });
});
