import { setTimeout as sleep } from 'node:timers/promises';
import { longer, slow } from '@latchkey/test-kit/long';
import { describeWithMongod } from '@latchkey/test-kit/mongodb/describe';
import type { Member } from '@latchkey/test-kit/mongodb/member';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import { freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invoke, send } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import { ready, startProcess } from './server-process.ts';
import { underLoad } from './under-load.ts';

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
      await underLoad(server, ROUNDS, async (random) => {
        await Promise.all(set.members.map((member) => member.kill()));
        await sleep(random() * 1_000);
        await restartAll(set.members);
        await set.settled();
      });
    });

    if (members === 1) return;
    test('when its primary is killed', options, async () => {
      await underLoad(await startOnFresh(), ROUNDS, async (random) => {
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
