import { setTimeout as sleep } from 'node:timers/promises';
import { describeOnEachMongodb } from '@latchkey/test-kit/mongodb/describe';
import { isDurableWrite, urlThrough } from '@latchkey/test-kit/mongodb/proxy';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { invoke, send } from '../http/call.ts';
import { startTestServer } from '../http/running-server.ts';
import { type FaultyService, startBehindProxy } from './behind-proxy.ts';
import { ready } from './server-process.ts';

/** What the service waits for, in milliseconds; by default it is 3 and 10 seconds. */
const impatient = {
  serverSelectionTimeoutMS: '3000',
  connectTimeoutMS: '2000',
  socketTimeoutMS: '2000',
};

describeOnEachMongodb('a database that is silent,', (mongodb) => {
  let service: FaultyService;
  beforeAll(async () => {
    service = await startBehindProxy(mongodb, impatient);
  });
  afterAll(() => service.stop());

  const convert = (code: string) =>
    invoke(service.server, 'REST', 'grants.convert', { code }, service.linked.bearer);
  const statusWith = async (grant_secret: string) =>
    (await invoke(service.server, 'REST', 'account.grant', {}, `Bearer ${grant_secret}`)).status;

  test('takes connections and never answers: nothing is consumed, and it is found again', async () => {
    const { code } = await service.linked.issue();
    service.proxy.mute();
    const [converted, readiness, health] = await Promise.all([
      convert(code),
      send(service.server, { method: 'GET', path: '/readyz' }),
      send(service.server, { method: 'GET', path: '/healthz' }),
    ]);
    expect(converted.body.error_code).toBe('store_unavailable');
    expect([readiness.status, health.status]).toEqual([503, 200]);
    await service.proxy.restore();
    await ready(service.server);
    expect((await convert(code)).status).toBe(200);
  });

  test('is waited for, for as long as it may take', async () => {
    const { code } = await service.linked.issue();
    const holding = service.proxy.holdNext(isDurableWrite);
    const converting = convert(code);
    const held = await holding;
    await sleep(100);
    held.forward();
    expect((await converting).status).toBe(200);
  });

  test('makes a write and never says so: it is read back', async () => {
    const { code } = await service.linked.issue();
    const holding = service.proxy.holdNext(isDurableWrite);
    const converting = convert(code);
    await (await holding).execute();
    const { status, body } = await converting;
    expect(status).toBe(200);
    expect(await statusWith(body.grant_secret)).toBe(200);
  });

  test('gets a write after it was given up: the answer stays true', async () => {
    const { code } = await service.linked.issue();
    const holding = service.proxy.holdNext(isDurableWrite);
    const converting = convert(code);
    const held = await holding;
    const { status, body } = await converting;
    expect(status).toBe(200);
    await held.execute();
    expect(await statusWith(body.grant_secret)).toBe(200);
  });

  test('at the start: the service starts, and goes on by itself', async () => {
    service.proxy.mute();
    const late = await startTestServer(urlThrough(service.proxy, service.url, impatient));
    expect((await send(late, { method: 'GET', path: '/readyz' })).status).toBe(503);
    await service.proxy.restore();
    await ready(late);
    await late.close();
  });
});
