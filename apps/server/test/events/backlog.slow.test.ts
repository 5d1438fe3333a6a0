import { deliveries, endpointOwners, endpoints as kind } from '@latchkey/store/kinds';
import { HOST_OWNER } from '@latchkey/store/records';
import { anEndpoint, anId, aPing } from '@latchkey/store-suite/records';
import { longer } from '@latchkey/test-kit/long';
import { expect, test, vi } from 'vitest';
import { driverOf } from '../../src/open-store.ts';
import { succeed } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { EVENTS, operator, startTestServer } from '../http/running-server.ts';
import { startReceiver } from './receiver.ts';

const BACKLOG = longer(20_000, 100_000);
const PAGE = 1_000;

describeOnEachStore('messages that wait for an endpoint that hangs', (fresh) => {
  test('hold up no other, however many they are, and 4 are tried', {
    timeout: 300_000,
  }, async () => {
    const [hanging, good, database] = [await startReceiver(), await startReceiver(), await fresh()];
    hanging.answer = () => {};
    // Both have worked so far, so nothing is known against either.
    const last_success_at = Date.now();
    const endpoints = [hanging, good].map(({ url }) => anEndpoint({ url, last_success_at }));
    const [endpoint_id = ''] = endpoints.map(({ id }) => id);
    const target = await driverOf(database.url).openTarget(database.url);
    const mark = { id: anId(), is: 'used' } as const;
    await target.replace(null, mark);
    const records = endpoints.map(({ application_id: _, ...endpoint }) => ({
      ...{ ...endpoint, owner: HOST_OWNER, generation: 0 },
    }));
    await target.write(kind, { records }, mark);
    const owned = { owner: HOST_OWNER, ids: endpoints.map(({ id }) => id) };
    await target.write(endpointOwners, { records: [owned] }, mark);
    for (let made = 0; made < BACKLOG; made += PAGE) {
      const records = Array.from({ length: PAGE }, () => ({
        ...aPing({ endpoint_id, type: 'grant.revoked', due_at: last_success_at }),
        ...{ claim: null, account_revision: 0, generation: 0, round: null, has_choice: false },
      }));
      await target.write(deliveries, { records }, mark);
    }
    await target.close();

    const server = await startTestServer(database.url, EVENTS);
    await vi.waitFor(() => expect(hanging.heard.length).toBeGreaterThan(0), 60_000);
    const linked = await linkedApplication(server);
    for (let count = 1; count <= 20; count++) {
      await linked.link();
      await vi.waitFor(() => expect(good.heard).toHaveLength(count), 60_000);
    }
    expect(hanging.most).toBeLessThanOrEqual(4);
    const { events } = await succeed(server, 'admin.summary.get', { hours: 1 }, operator);
    expect(events.pending).toBe(10_000);
    await server.close();
    await Promise.all([hanging.close(), good.close(), database.remove()]);
  });
});
