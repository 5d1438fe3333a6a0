import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { freshName, urlOf } from '../../src/store/mongodb/mongo-harness.ts';
import { invoke, send } from '../http/call.ts';
import { describeOnMongodb } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { longer } from '../long.ts';
import { startMongoDB } from '../mongodb/start.ts';
import { Load } from './load.ts';
import { seededRandom } from './seed.ts';
import { ready, startProcess } from './server-process.ts';

const ROUNDS = longer(1, 30);

describeOnMongodb('a database that is killed,', () => {
  test('and comes back: the service outlives it, and nothing is lost or doubled', {
    timeout: longer(120_000, 1_800_000),
  }, async ({ skip }) => {
    const mongodb = await startMongoDB({ log: () => undefined });
    const { kill, restart } = mongodb;
    // Somebody else's server is not for us to kill.
    if (!kill || !restart) return skip('The server of TEST_DATABASE_URL is not killed.');
    try {
      const random = seededRandom('kill -9 of the database');

      // Away at the start of the service.
      await kill();
      const server = await startProcess(urlOf(mongodb.url, freshName()));
      const [readiness, refused] = await Promise.all([
        send(server, { method: 'GET', path: '/readyz' }),
        invoke(server, 'REST', 'admin.applications.create', { name: 'x' }, operator),
      ]);
      expect([readiness.status, refused.body.error_code]).toEqual([503, 'store_unavailable']);
      await restart();
      await ready(server);

      const load = new Load(server, await linkedApplication(server), random);
      for (let round = 0; round < ROUNDS; round++) {
        load.start(8);
        while (load.linked < 10) await sleep(10);
        await sleep(random() * 300);
        await kill();
        await sleep(random() * 1_000);
        await restart();
        await ready(server);
        await load.stop();
        await load.verify();
      }
    } finally {
      await mongodb.stop();
    }
  });
});
