import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../packages/store/src/store.ts';
import { driver } from '../../../packages/store-sqlite/src/driver.ts';
import { hashCredential } from '../credentials.ts';
import { makeDatabase, partsFor } from './make-database.ts';
import { type Records, recordsOf } from './records.ts';

const COUNTS = [2_000, 5_000];
// So many erasures leave a number of plain accounts that 5 divides, and at the smaller size 19 too.
const parts = { ...partsFor(2_000), erasures: 15, deletions: 3 };

let folder: string;
let databases: { url: string; count: number; records: Records; store: Store }[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-growth-'));
  databases = await Promise.all(
    COUNTS.map(async (count) => {
      const url = `file:${join(folder, `${count}.db`)}`;
      const records = recordsOf(count, parts);
      await makeDatabase(url, records);
      return { url, count, records, store: await driver.open(url, { clock: Date.now }) };
    }),
  );
});
afterAll(async () => {
  for (const { store } of databases) await store.close();
  await rm(folder, { recursive: true });
});

test('what is measured is the same at each size, and the rest makes up the number', async () => {
  for (const { url, count, records, store } of databases) {
    const numberOf = async (filter: Parameters<Store['listGrants']>[0]) =>
      (await store.listGrants(filter, { limit: count, before: null })).length;
    expect(await numberOf({ account_id: records.largeAccount })).toBe(parts.ofLargeAccount);
    expect(records.toErase).toHaveLength(parts.erasures);
    for (const account_id of records.toErase) {
      expect(await numberOf({ account_id })).toBe(parts.perAccount);
    }
    expect(records.toDelete).toHaveLength(parts.deletions);
    for (const application_id of records.toDelete) {
      expect(await numberOf({ application_id })).toBe(parts.perSmallApplication);
    }
    const source = await driver.openSource(url);
    expect(await source.estimateGrants()).toBe(count);
    await source.close();
  }
});

test('every plain account has active grants of several applications that stay', async () => {
  for (const { records, store } of databases) {
    expect(records.plainAccounts.length % 5).toBe(0);
    for (const account_id of records.plainAccounts) {
      const grants = await store.listGrants({ account_id }, { limit: 100, before: null });
      const active = grants.filter(({ revoked_at }) => revoked_at === null);
      const of = new Set(active.map(({ application_id }) => application_id));
      for (const id of [records.application.id, ...records.toDelete]) of.delete(id);
      expect(of.size, account_id).toBeGreaterThan(1);
    }
  }
});

test('each known grant is one of the measured application, and can be used', async () => {
  for (const { records, store } of databases) {
    expect(records.known).toHaveLength(parts.known);
    for (const { id, secret } of records.known) {
      const found = await store.authenticateGrant(id, { currentAccount: true });
      expect(found).toMatchObject({ application_disabled: false, account: { username: 'ada' } });
      expect(found?.grant).toMatchObject({ application_id: records.application.id });
      expect(Buffer.from(found?.secret_hash ?? [])).toEqual(hashCredential(secret));
    }
  }
});

test('a database that has something is left as it is', async () => {
  const [{ url, count }] = databases as [(typeof databases)[0]];
  await expect(makeDatabase(url, recordsOf(count, parts))).rejects.toThrow('not a new one');
});
