import { StatementSync } from 'node:sqlite';
import { sweep } from '@latchkey/store-suite/finish';
import {
  anAccount,
  anApplication,
  anEndedTry,
  anEndpoint,
  anId,
  granted,
  inPortions,
} from '@latchkey/store-suite/records';
import { expect, test, vi } from 'vitest';
import { record } from './recorded.ts';
import { sqliteHarness } from './sqlite-harness.ts';

// More than are read at once: an account may allow any number of strangers' applications.
const ALLOWED = 1_100;

test('a change of an account is told to the few of its applications that have endpoints, in few statements', async () => {
  const database = await sqliteHarness.fresh();
  const recorded = record();
  const store = await database.open({ recordsEvents: true });
  const account = anAccount();
  await store.putAccount(account);
  const ids: string[] = [];
  await inPortions(ALLOWED, async () => {
    const application = anApplication();
    ids.push(application.id);
    await store.createApplication(application);
    await granted(store, { account, application_id: application.id });
  });
  const [first = '', ...others] = ids.toSorted();
  const last = others.at(-1) ?? '';
  const own = [first, last].map((application_id) =>
    anEndpoint({ application_id, types: ['account.updated'] }),
  );
  for (const endpoint of own) await store.createEndpoint(endpoint, { most: 9 });
  await store.putAccount({ ...account, username: 'ada2' });

  while (await store.makeDeliveries(Date.now())) {
    // The grants were made before there was an endpoint.
  }
  const from = recorded.statements.length;
  await store.putAccount({ ...account, username: 'ada3' });
  while (await store.makeDeliveries(Date.now())) {
    // Until all is told.
  }
  expect(recorded.statements.length - from).toBeLessThan(100);
  recorded.stop();
  for (const { id } of own) {
    const told = await store.listDeliveries({ endpoint_id: id }, { limit: 9, before: null });
    expect(told.map(({ type }) => type)).toEqual(['account.updated', 'account.updated']);
  }
  await store.close();
  await database.remove();
});

test('the end of a try drops a part of what is pending for its endpoint, and the sweep the rest', async () => {
  const database = await sqliteHarness.fresh();
  const store = await database.open({ recordsEvents: true });
  const endpoint = anEndpoint({ types: ['grant.created'] });
  await store.createEndpoint(endpoint, { most: 9 });
  // Two parts of 256, and some.
  await inPortions(600, async () => {
    await granted(store);
  });
  const now = Date.now();
  while (await store.makeDeliveries(now)) {
    // Until all is told.
  }
  const ofEndpoint = { endpoint_id: endpoint.id };
  const pending = async () => {
    const asked = { ...ofEndpoint, status: 'pending' } as const;
    return (await store.listDeliveries(asked, { limit: 1_000, before: null })).length;
  };
  const [due] = await store.claimDeliveries({
    now,
    claim: anId(),
    endpoints: [{ id: endpoint.id, most: 1 }],
  });
  if (!due) throw new Error('A delivery is due.');
  const { id: delivery_id, claim, endpoint_id } = due.delivery;
  const attempt = { at: now, duration_ms: 7, result: 'refused', status_code: 410 } as const;
  await store.endTries([
    anEndedTry({
      ...{ delivery_id, claim: claim ?? '', endpoint_id, url: endpoint.url, attempt },
      ...{ isGone: true, now },
    }),
  ]);
  expect(await store.findEndpoint(endpoint.id)).toMatchObject({ disabled_reason: 'gone' });
  expect(await pending()).toBeGreaterThan(300);
  // Before it is enabled, all of it is dropped, or it stays disabled.
  const enable = () => store.updateEndpoint(endpoint.id, { disabled_reason: null });
  const { all } = StatementSync.prototype;
  const failing = vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (
    this: StatementSync,
    ...given
  ) {
    if (this.sourceSQL.startsWith('UPDATE deliveries')) throw new Error('disk I/O error');
    return all.apply(this, given);
  });
  await expect(enable()).rejects.toThrow();
  failing.mockRestore();
  expect(await store.findEndpoint(endpoint.id)).toMatchObject({ disabled_reason: 'gone' });
  await sweep(store, now);
  expect(await pending()).toBe(0);
  expect(await enable()).toMatchObject({ disabled_reason: null });
  await store.close();
  await database.remove();
});
