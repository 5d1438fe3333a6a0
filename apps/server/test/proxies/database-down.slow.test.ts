import { setTimeout as sleep } from 'node:timers/promises';
import { describeWithMongod } from '@latchkey/test-kit/mongodb/describe';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import { freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ready, startProcess } from '../faults/server-process.ts';
import { requestOf, send } from '../http/call.ts';
import { asBearer, linkedApplication } from '../http/linked-application.ts';
import { isInstalled, proxyKinds, startProxy } from './proxy.ts';

const timeout = 180_000;

describeWithMongod('a database that is down behind a proxy', (mongod) => {
  let set: ReplicaSet;
  beforeAll(async () => {
    set = await ReplicaSet.start(mongod, { members: 1 });
  }, timeout);
  afterAll(() => set.stop());

  for (const kind of proxyKinds) {
    const isHere = isInstalled(kind.program);
    const title = isHere ? kind.program : `${kind.program} (not run: it is not installed)`;
    describe.skipIf(!isHere)(title, () => {
      test('is told by the service itself, and nothing was done', { timeout }, async () => {
        const [database] = set.members;
        const url = urlOf(set.url, freshName());
        const start = () => startProcess(url, { TRUST_PROXY: 'true', DRAIN_SECONDS: '3' });
        const [one, two] = await Promise.all([start(), start()]);
        const proxy = await startProxy(kind, [one.url, two.url]);
        try {
          const { link, issue, convert, bearer } = await linkedApplication(proxy);
          const grant = asBearer(await link());
          const { code } = await issue();
          const conversion = requestOf('REST', 'grants.convert', { code });
          const look = requestOf('REST', 'account.get');
          // HAProxy closes the connection of a request that met the end of a process, for the caller to send it again.
          const ask = (request: Parameters<typeof send>[1]) =>
            send(proxy, request).catch(() => send(proxy, request));
          const expectUnavailable = async () => {
            const calls = Array.from({ length: 6 }, () => [
              ask({ ...conversion, authorization: bearer }),
              ask({ ...look, authorization: grant }),
            ]);
            for (const { status, headers, json, text } of await Promise.all(calls.flat())) {
              const wait = headers.get('retry-after');
              expect([status, json?.error_code, wait], text).toEqual([
                503,
                'store_unavailable',
                '1',
              ]);
            }
          };

          await database?.kill();
          await notReady(one);
          await notReady(two);
          if (kind.program === 'haproxy') {
            const isOut = (name: string) => proxy.output().includes(`processes/${name} is DOWN`);
            while (!isOut('one') || !isOut('two')) await sleep(20);
          }
          await expectUnavailable();
          // One process is enough.
          await one.kill();
          await expectUnavailable();

          await database?.restart();
          await set.settled();
          await ready(proxy);
          expect(await convert(code)).toHaveProperty('grant_secret');

          // A proxy without any process responds by itself.
          await two.kill();
          const { status, headers } = await send(proxy, look);
          expect([502, 503]).toContain(status);
          expect(headers.get('content-type')).toBe('text/html');
        } finally {
          await proxy.stop();
        }
      });
    });
  }
});

async function notReady(process: { url: string }): Promise<void> {
  while ((await send(process, { method: 'GET', path: '/readyz' })).status === 200) await sleep(20);
}
