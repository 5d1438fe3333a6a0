import { setTimeout as sleep } from 'node:timers/promises';
import { longer, slow } from '@latchkey/test-kit/long';
import { describeWithMongod } from '@latchkey/test-kit/mongodb/describe';
import type { Member } from '@latchkey/test-kit/mongodb/member';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import { freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { seededRandom } from '@latchkey/test-kit/seeded-random';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invoke, send } from '../http/call.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import type { ServerProcess } from '../http/served-process.ts';
import { Load } from './load.ts';
import { ready, startProcess } from './server-process.ts';

const ROUNDS = longer(1, 30);
const timeout = longer(600_000, 1_800_000);

describeWithMongod('a service outlives its database, and nothing is lost or doubled,', (mongod) => {
  describe.each([
    { size: 'one member', members: 1 },
    { size: 'three members', members: 3 },
  ] as const)('with $size,', ({ members }) => {
    const options = { timeout, ...(members === 1 ? {} : slow) };

    let set: ReplicaSet;
    beforeAll(async () => {
      set = await ReplicaSet.start(mongod, { members });
    }, timeout);
    afterAll(() => set.stop());

    const startOnFresh = () => startProcess(urlOf(set.url, freshName()));

    /** Does something to the database under load, and holds the service to what it acknowledged. */
    async function underLoad(server: ServerProcess, harm: (random: () => number) => Promise<void>) {
      const random = seededRandom('harm to the database');
      const load = new Load(server, await linkedApplication(server), random);
      for (let round = 0; round < ROUNDS; round++) {
        load.start(8);
        while (load.linked < 10) await sleep(10);
        await sleep(random() * 300);
        await harm(random);
        await ready(server);
        await load.stop();
        await load.verify();
      }
    }

    test('when all of it is away at the start, and comes back', options, async () => {
      await Promise.all(set.members.map((member) => member.kill()));
      const server = await startOnFresh();
      const [readiness, refused] = await Promise.all([
        send(server, { method: 'GET', path: '/readyz' }),
        invoke(server, 'REST', 'admin.applications.create', { name: 'x' }, operator),
      ]);
      expect([readiness.status, refused.body.error_code]).toEqual([503, 'store_unavailable']);
      await restartAll(set.members);
      await set.settled();
      await ready(server);
      await underLoad(server, async (random) => {
        await Promise.all(set.members.map((member) => member.kill()));
        await sleep(random() * 1_000);
        await restartAll(set.members);
        await set.settled();
      });
    });

    if (members === 1) return;
    test('when its primary is killed', options, async () => {
      await underLoad(await startOnFresh(), async (random) => {
        const primary = await set.primary();
        await primary.kill();
        await sleep(random() * 3_000);
        await primary.restart();
        await set.settled();
      });
    });
  });
});

async function restartAll(members: readonly Member[]): Promise<void> {
  await Promise.all(members.map((member) => member.restart()));
}
