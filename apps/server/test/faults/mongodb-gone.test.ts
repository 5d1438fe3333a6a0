import { slow } from '@latchkey/test-kit/long';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { isDurableWrite } from '@latchkey/test-kit/mongodb/proxy';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { invoke, send } from '../http/call.ts';
import { type FaultyService, startBehindProxy } from './behind-proxy.ts';
import { ready } from './server-process.ts';

// What a caller sees of it, and can do then. What holds for each write is in `describeFaults` of the stores.

describeOnMongodb('a database that goes away,', (mongodb) => {
  let service: FaultyService;
  beforeAll(async () => {
    service = await startBehindProxy(mongodb, { socketTimeoutMS: '60000' });
  });
  afterAll(() => service.stop());

  /** The process comes back by itself. */
  async function backAgain() {
    await service.proxy.restore();
    await ready(service.server);
  }

  test(
    'with an exchange under way: its grant has a name, by which it is recovered if it was made',
    slow,
    async () => {
      const { server, linked, proxy } = service;
      const call = (name: 'grants.convert' | 'grants.recover', input: Record<string, unknown>) =>
        invoke(server, 'REST', name, input, linked.bearer);
      const exchanges = [];
      for (const arrives of [true, false]) {
        const { code, grant_id } = await linked.issue();
        const holding = proxy.holdNext(isDurableWrite);
        const answering = call('grants.convert', { code });
        const held = await holding;
        if (arrives) await held.execute();
        exchanges.push({ arrives, code, grant_id, answering });
      }
      await proxy.refuse();
      for (const { grant_id, answering } of exchanges) {
        const { error_code, grant_id: told } = (await answering).body;
        expect([error_code, told]).toEqual(['outcome_unknown', grant_id]);
      }
      await backAgain();
      for (const { arrives, code, grant_id } of exchanges) {
        expect((await call('grants.recover', { grant_id })).status).toBe(arrives ? 200 : 404);
        if (!arrives) expect((await call('grants.convert', { code })).status).toBe(200);
      }
    },
  );

  // The driver still has the connections in its pool, and one of them is written to.
  test('in that very moment: it is unavailable, and no fault of the service', async () => {
    const readiness = () => send(service.server, { method: 'GET', path: '/readyz' });
    await Promise.all(Array.from({ length: 20 }, readiness));
    await service.proxy.refuse();
    const { status, json } = await readiness();
    expect([status, json.error_code]).toEqual([503, 'store_unavailable']);
    await backAgain();
  });
});
