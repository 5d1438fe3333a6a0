import {
  anAccount,
  anApplication,
  anEndpoint,
  granted,
  inPortions,
} from '@latchkey/store-suite/records';
import { expect, test } from 'vitest';
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
