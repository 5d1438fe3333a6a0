import { longer, slow } from '@latchkey/test-kit/long';
import { describeWithMongod } from '@latchkey/test-kit/mongodb/describe';
import { canMakeNetworks, type Host, Network } from '@latchkey/test-kit/network/network';
import { describeWithPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sqliteDatabase } from '../../http/databases.ts';
import type { ServerOptions } from '../../http/served-process.ts';
import {
  type HarmedServers,
  harmedMongodb,
  harmedPostgresql,
  partitionNames,
  partitionsOf,
} from '../nemesis.ts';
import { keepHistory } from '../report.ts';
import { describeContradiction, findContradictions } from './one-order.ts';
import { type Harm, type LinksOptions, runLinks } from './run-links.ts';

const given = process.env.HISTORY_SEED;
const firstSeed = given ? Number(given) : Math.floor(Math.random() * 1e9);
const DECISIONS = longer(12, 200);
/** Codes live 300 s. Where a run takes longer, what it leaves in the end proves nothing. */
const DECISIONS_OF_A_RUN = Math.min(20, DECISIONS);
const options = { timeout: longer(600_000, 1_800_000) };
const MOST_SHOWN = 3;

/** Runs scenes, and finds an order of the calls for each link, until enough links are decided. */
async function proveSound(
  load: Pick<LinksOptions, 'databaseUrl' | 'servers'>,
  strike: Harm,
): Promise<void> {
  const harm = { strike, times: 1 };
  let total = 0;
  for (let seed = firstSeed; total < DECISIONS; seed++) {
    const result = await runLinks({ ...load, seed, decisions: DECISIONS_OF_A_RUN, harm });
    const { history, decided, struck } = result;
    total += decided;
    process.stderr.write(
      `links: seed ${seed}, ${decided} decisions, ${struck} faults, ${history.length} calls\n`,
    );
    const found = findContradictions(history);
    if (found.length === 0) continue;
    const stories = found.slice(0, MOST_SHOWN).map(describeContradiction);
    const rerun = `Again, in other timing: HISTORY_SEED=${seed}`;
    expect.fail([...stories, await keepHistory(result), rerun].join('\n\n'));
  }
}

const killServer: Harm = async (servers, random) => {
  const server = servers[random.pick(['A', 'B'] as const)];
  await server.kill();
  await server.restart();
};

async function proveOn(
  fresh: HarmedServers['fresh'],
  strike: Harm,
  servers: LinksOptions['servers'] = { A: {}, B: {} },
): Promise<void> {
  const { url: databaseUrl, remove } = await fresh();
  onTestFinished(remove);
  await proveSound({ databaseUrl, servers }, strike);
}

const title = 'what is told about links is true in one order';

describe(`${title} on SQLite`, options, () => {
  test('while services are killed', () => proveOn(sqliteDatabase, killServer));
});

describeWithMongod(title, (mongod) => {
  describe('on a replica set of three', slow, () => {
    let network: Network | undefined;
    let harmed: Awaited<ReturnType<typeof harmedMongodb>>;
    beforeAll(async () => {
      network = canMakeNetworks ? await Network.start(5) : undefined;
      harmed = await harmedMongodb(mongod, { members: 3, hosts: network?.hosts });
    });
    afterAll(async () => {
      await harmed?.stop();
      await network?.stop();
    });

    function prove(strike: Harm): Promise<void> {
      const [a, b] = network?.hosts.slice(3) ?? [];
      return proveOn(harmed.fresh, strike, { A: serverOn(a), B: serverOn(b) });
    }

    test('while services are killed', options, () => prove(killServer));

    test.each([
      'step-down',
      'kill -9 of the primary',
      'pause of the primary',
      'kill -9 of all members',
    ])('through each %s', options, (name) => prove(async () => harmed.faults[name]?.()));

    describe.skipIf(!canMakeNetworks)(
      canMakeNetworks ? 'in a network' : 'in a network (not run: only root can make one)',
      () => {
        test.each(partitionNames)('through each %s', options, (name) =>
          prove((_, random) => partitionsOf(harmed.set, network as Network)[name](random)),
        );
      },
    );
  });
});

describeWithPostgresql(title, (programs) => {
  describe('on a primary and a standby', slow, () => {
    let harmed: HarmedServers;
    beforeAll(async () => {
      harmed = await harmedPostgresql(programs);
    });
    afterAll(() => harmed?.stop());

    test.each(['kill -9 of the primary', 'promotion beside the primary', 'lost statements'])(
      'through each %s',
      options,
      (name) => proveOn(harmed.fresh, async () => harmed.faults[name]?.()),
    );
  });
});

const serverOn = (host: Host | undefined): ServerOptions =>
  host ? { within: host.within, environment: { HOST: host.address } } : {};
