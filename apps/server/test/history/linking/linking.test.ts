import { longer, slow } from '@latchkey/test-kit/long';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import { dropDatabase, freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { describeWithMongod, sqliteDatabase } from '../../http/databases.ts';
import { faultsOf } from '../nemesis.ts';
import { keepHistory } from '../report.ts';
import { describeContradiction, findContradictions } from './one-order.ts';
import { type Harm, type LinksOptions, runLinks } from './run-links.ts';

const given = process.env.HISTORY_SEED;
const seed = given ? Number(given) : Math.floor(Math.random() * 1e9);
const DECISIONS = longer(20, 200);
const FAULTS = longer(1, 10);
const options = { timeout: longer(600_000, 1_800_000) };
const MOST_SHOWN = 3;

/** Runs scenes, and finds an order of the calls for each link. */
async function proveSound(load: Pick<LinksOptions, 'databaseUrl'>, strike: Harm): Promise<void> {
  const harm = { strike, times: FAULTS };
  const result = await runLinks({ ...load, seed, decisions: DECISIONS, harm });
  const { history, decided, struck } = result;
  process.stderr.write(
    `links: seed ${seed}, ${decided} decisions, ${struck} faults, ${history.length} calls\n`,
  );
  const found = findContradictions(history);
  if (found.length === 0) return;
  const stories = found.slice(0, MOST_SHOWN).map(describeContradiction);
  const rerun = `Again, in other timing: HISTORY_SEED=${seed}`;
  expect.fail([...stories, await keepHistory(result), rerun].join('\n\n'));
}

const killServer: Harm = async (servers, random) => {
  const server = servers[random.pick(['A', 'B'] as const)];
  await server.kill();
  await server.restart();
};

describe('what is told about links on SQLite is true in one order', options, () => {
  test('while services are killed', async () => {
    const { url: databaseUrl, remove } = await sqliteDatabase();
    onTestFinished(remove);
    await proveSound({ databaseUrl }, killServer);
  });
});

describeWithMongod('what is told about links is true in one order', (mongod) => {
  describe('on a replica set of three', slow, () => {
    let set: ReplicaSet;
    beforeAll(async () => {
      set = await ReplicaSet.start(mongod, { members: 3 });
    }, 120_000);
    afterAll(() => set.stop());

    async function prove(strike: Harm): Promise<void> {
      const database = freshName();
      onTestFinished(() => dropDatabase(set.url, database));
      await proveSound({ databaseUrl: urlOf(set.url, database) }, strike);
    }

    test('while services are killed', options, () => prove(killServer));

    test.each(['step-down', 'kill -9 of the primary', 'pause of the primary'])(
      'through each %s',
      options,
      (name) => prove(async () => faultsOf(set)[name]?.()),
    );
  });
});
