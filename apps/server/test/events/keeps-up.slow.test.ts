import { setTimeout as sleep } from 'node:timers/promises';
import { anAccount, granted } from '@latchkey/store-suite/records';
import { expect, test, vi } from 'vitest';
import { type Json, succeed } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { EVENTS, operator, startTestServer } from '../http/running-server.ts';
import { startReceiver } from './receiver.ts';

const ENDS = 2_500;
const AT_ONCE = 50;
const TAKES_MS = 50;

// How fast is in the benchmark.
describeOnEachStore('the ends of one call', (fresh) => {
  test('are told by one process over 64 connections, and by two no more often', async () => {
    const [own, database] = [await startReceiver(), await fresh()];
    own.answer = (response) => void sleep(TAKES_MS).then(() => response.writeHead(204).end());
    const [server, other] = [
      await startTestServer(database.url, EVENTS),
      await startTestServer(database.url, EVENTS),
    ];
    const { application_id, account_id, bearer, link } = await linkedApplication(server);
    const members = { url: own.url, application_id, types: ['grant.revoked'] };
    await succeed(server, 'admin.endpoints.create', members, operator);
    const { grant_id } = await link();
    await succeed(server, 'grants.revoke', { grant_id }, bearer);
    await vi.waitFor(() => expect(own.heard).toHaveLength(1), 60_000);

    async function endAll(application_revocations: number): Promise<number> {
      const before = own.heard.length;
      for (let made = 0; made < ENDS; made += AT_ONCE) {
        const grant = {
          ...{ application_id, application_revocations },
          account: anAccount({ id: account_id }),
        };
        const some = Array.from({ length: AT_ONCE }, () => granted(server.service.store, grant));
        await Promise.all(some);
      }
      own.most = 0;
      await succeed(server, 'admin.grants.revokeAll', { application_id }, operator);
      await vi.waitFor(() => expect(own.heard).toHaveLength(before + ENDS), 240_000);
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
    /** @param application_revocations - how often it was told before */
    async function tell(
      application_id: string,
      account_id: string,
      application_revocations: number,
    ): Promise<void> {
      const grant = {
        ...{ application_id, application_revocations },
        account: anAccount({ id: account_id }),
      };
      const grants = Array.from({ length: 200 }, () => granted(server.service.store, grant));
      await Promise.all(grants);
      await succeed(server, 'admin.grants.revokeAll', { application_id }, operator);
    }
    const owners = await Promise.all(
      hanging.map(async (receiver) => {
        const { application_id, account_id } = await linkedApplication(server);
        const members = { url: receiver.url, application_id, types: ['grant.revoked'] };
        await succeed(server, 'admin.endpoints.create', members, operator);
        await tell(application_id, account_id, 0);
        await vi.waitFor(() => expect(receiver.heard).toHaveLength(200), 60_000);
        return { application_id, account_id };
      }),
    );
    const linked = await linkedApplication(server);
    const members = { url: good.url, application_id: linked.application_id };
    await succeed(server, 'admin.endpoints.create', members, operator);
    const { grant_id } = await linked.link();
    for (const receiver of hanging) receiver.answer = () => {};
    for (const { application_id, account_id } of owners) await tell(application_id, account_id, 1);
    for (const { heard } of hanging) {
      await vi.waitFor(() => expect(heard.length).toBeGreaterThan(200), 60_000);
    }
    await succeed(server, 'grants.revoke', { grant_id }, linked.bearer);
    await vi.waitFor(() => expect(good.heard).toHaveLength(1), 60_000);
    // No try of those that hang has ended by then.
    const { data } = await succeed(server, 'admin.endpoints.list', { limit: 9 }, operator);
    expect(data.filter((endpoint: Json) => endpoint.failing_since !== null)).toEqual([]);
    await server.close({ drain: false });
    await Promise.all([good, ...hanging].map((receiver) => receiver.close()));
    await database.remove();
  });
});
