import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashCredential, newId } from '../../../apps/server/src/credentials/credentials.ts';
import { openStore } from '../../../apps/server/src/store/open-store.ts';
import type { Store } from '../../../apps/server/src/store/store.ts';
import { fill } from './fill.ts';
import type { Shelf } from './shelf.ts';
import { type Stock, stock } from './stored-grants.ts';

const COUNT = 500;

let folder: string;
let stored: Stock;
let shelf: Shelf;
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-fill-'));
  const url = `file:${join(folder, 'latchkey.db')}`;
  stored = stock(COUNT);
  shelf = await fill(url, stored);
  store = await openStore(url, { clock: Date.now });
});
afterEach(async () => {
  await store.close();
  await shelf.close();
  await rm(folder, { recursive: true });
});

const all = { limit: COUNT, before: null };
const grantsOf = (filter: Parameters<Store['listGrants']>[0]) => store.listGrants(filter, all);

test('a filled database holds the grants, of all applications and of each account as many', async () => {
  const lists = await Promise.all(
    stored.applications.map(({ id }) => grantsOf({ application_id: id })),
  );
  const grants = lists.flat();
  expect(grants).toHaveLength(COUNT);
  expect(grants.filter(({ revoked_at }) => revoked_at !== null).length).toBeGreaterThan(0);
  for (const { id } of stored.accounts) {
    expect(await grantsOf({ account_id: id })).toHaveLength(COUNT / stored.accounts.length);
  }
});

test('a known grant is let in by its secret, and has the history of one that was used', async () => {
  expect(stored.known).toHaveLength(COUNT / 2);
  for (const { id, secret, stored: grant } of stored.known.slice(0, 20)) {
    const found = await store.authenticateGrant(id, { currentAccount: true });
    expect(found).toMatchObject({
      application_disabled: false,
      account: grant.account,
      first_used_at: grant.first_used_at,
    });
    expect(Buffer.from(found?.secret_hash ?? [])).toEqual(hashCredential(secret));
    expect(await store.findGrantHistory(id)).toMatchObject({
      application_id: stored.applications[0]?.id,
      issued_by: grant.issued_by,
      exchanged_by: grant.exchanged_by,
      first_used_by: grant.first_used_by,
      revoked_by: null,
    });
  }
});

test('after a turn it holds what it held before', async () => {
  const [application] = stored.applications;
  const application_id = application?.id ?? '';
  const before = await grantsOf({ application_id });
  const boundary = newId(Date.now());

  const [revoked] = stored.known;
  if (!revoked) throw new Error('None is known.');
  await store.revokeGrant({ grant_id: revoked.id, application_id, now: Date.now() });
  const { account, code_hash } = revoked.stored;
  const now = Date.now() + 1;
  const grant_id = newId(now);
  const code = { grant_id, application_id, account, scope: 'profile.read', code_hash };
  await store.issueCode({ ...code, code_expires_at: now + 1_000 });
  await store.redeemCode({ grant_id, application_id, code_hash, secret_hash: code_hash, now });
  expect(await grantsOf({ application_id })).not.toEqual(before);

  await shelf.restore([revoked.stored]);
  await shelf.removeAfter(boundary);
  expect(await grantsOf({ application_id })).toEqual(before);
  const found = await store.authenticateGrant(revoked.id, { currentAccount: false });
  expect(Buffer.from(found?.secret_hash ?? [])).toEqual(hashCredential(revoked.secret));
});
