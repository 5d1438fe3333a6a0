import { setTimeout as sleep } from 'node:timers/promises';
import { granted } from '@latchkey/store-suite/records';
import { expect, test, vi } from 'vitest';
import { succeed } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { EVENTS, operator, startTestServer, type TestServer } from '../http/running-server.ts';
import { startReceiver } from './receiver.ts';

const AT_ONCE = 50;
const TAKES_MS = 100;

/**
 * Each for an account of its own: puts of one account wait for each other.
 *
 * @param application_revocations - how often all of the application were revoked before
 */
async function grantMany(
  { service: { store } }: TestServer,
  of: { application_id: string; application_revocations: number },
  count: number,
): Promise<void> {
  for (let made = 0; made < count; made += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => granted(store, of)));
  }
}

// How fast is in the benchmark.
describeOnEachStore('the ends of one call', (fresh) => {
  test('are told by one process over 64 connections, and by two no more often', async () => {
    const [own, database] = [await startReceiver(), await fresh()];
    own.answer = (response) => void sleep(TAKES_MS).then(() => response.writeHead(204).end());
    const [server, other] = [
      await startTestServer(database.url, EVENTS),
      await startTestServer(database.url, EVENTS),
    ];
    // A server takes a few milliseconds for each of these grants.
    const ends = database.system === 'sqlite' ? 1_000 : 500;
    const { application_id, bearer, link } = await linkedApplication(server);
    const members = { url: own.url, application_id, types: ['grant.revoked'] };
    await succeed(server, 'admin.endpoints.create', members, operator);
    const { grant_id } = await link();
    await succeed(server, 'grants.revoke', { grant_id }, bearer);
    await vi.waitFor(() => expect(own.heard.length).toBe(1), 60_000);

    // A length alone: to print thousands of messages at each look would take the time of the service.
    async function endAll(application_revocations: number): Promise<number> {
      const before = own.heard.length;
      await grantMany(server, { application_id, application_revocations }, ends);
      own.most = 0;
      await succeed(server, 'admin.grants.revokeAll', { application_id }, operator);
      await vi.waitFor(() => expect(own.heard.length).toBe(before + ends), 240_000);
      return own.most;
    }
    expect(await endAll(0)).toBeLessThanOrEqual(2 * 64);
    await other.close();
    const most = await endAll(1);
    expect([most > 32, most <= 64]).toEqual([true, true]);
    expect(new Set(own.heard.map(({ id }) => id)).size).toBe(own.heard.length);
    await server.close();
    await Promise.all([own.close(), database.remove()]);
  });
});

describeOnEachStore('a message to a quick receiver', (fresh) => {
  test('is told although owners hang whose endpoints had grown', async () => {
    const [good, database] = [await startReceiver(), await fresh()];
    const server = await startTestServer(database.url, EVENTS);
    const hanging = await Promise.all([startReceiver(), startReceiver(), startReceiver()]);
    const revokeAll = (application_id: string) =>
      succeed(server, 'admin.grants.revokeAll', { application_id }, operator);
    const owners = await Promise.all(
      hanging.map(async (receiver) => {
        const { application_id } = await linkedApplication(server);
        const members = { url: receiver.url, application_id, types: ['grant.revoked'] };
        await succeed(server, 'admin.endpoints.create', members, operator);
        await grantMany(server, { application_id, application_revocations: 0 }, 200);
        await revokeAll(application_id);
        await vi.waitFor(() => expect(receiver.heard.length).toBe(200), 60_000);
        await grantMany(server, { application_id, application_revocations: 1 }, 200);
        return application_id;
      }),
    );
    const linked = await linkedApplication(server);
    const members = { url: good.url, application_id: linked.application_id };
    await succeed(server, 'admin.endpoints.create', members, operator);
    const { grant_id } = await linked.link();
    let ended = 0;
    for (const receiver of hanging) {
      receiver.answer = (response) => void response.once('close', () => ended++);
    }
    for (const application_id of owners) await revokeAll(application_id);
    for (const { heard } of hanging) {
      await vi.waitFor(() => expect(heard.length).toBeGreaterThan(200), 60_000);
    }
    const endedBefore = new Promise<number>((resolve) => {
      good.answer = (response) => {
        resolve(ended);
        response.writeHead(204).end();
      };
    });
    await succeed(server, 'grants.revoke', { grant_id }, linked.bearer);
    expect(await endedBefore).toBe(0);
    // First, since the server waits for those that hang.
    await Promise.all([good, ...hanging].map((receiver) => receiver.close()));
    await server.close({ drain: false });
    await database.remove();
  });
});
