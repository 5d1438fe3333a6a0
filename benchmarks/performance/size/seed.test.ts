import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../../apps/server/src/store/open-store.ts';
import { hashCredential, uuidV7 } from '../credentials.ts';
import { seed } from './seed.ts';
import { type SeedData, type Seeder, seedData, unbound } from './seed-data.ts';

type Store = Awaited<ReturnType<typeof openStore>>;

const COUNT = 500;

let folder: string;
let data: SeedData;
let seeder: Seeder;
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-seed-'));
  const url = `file:${join(folder, 'latchkey.db')}`;
  data = seedData(COUNT);
  seeder = await seed(url, data);
  store = await openStore(url, { clock: Date.now });
});
afterEach(async () => {
  await store.close();
  await seeder.close();
  await rm(folder, { recursive: true });
});

const all = { limit: COUNT, before: null };
const grantsOf = (filter: Parameters<Store['listGrants']>[0]) => store.listGrants(filter, all);

test('a seeded database has all grants, spread evenly over the accounts', async () => {
  const lists = await Promise.all(
    data.applications.map(({ id }) => grantsOf({ application_id: id })),
  );
  const grants = lists.flat();
  expect(grants).toHaveLength(COUNT);
  expect(grants.filter(({ revoked_at }) => revoked_at !== null).length).toBeGreaterThan(0);
  for (const { id } of data.accounts) {
    expect(await grantsOf({ account_id: id })).toHaveLength(COUNT / data.accounts.length);
  }
});

test('a known grant has its secret and the history of a used grant', async () => {
  expect(data.known).toHaveLength(COUNT / 2);
  for (const { id, secret, stored: grant } of data.known.slice(0, 20)) {
    const found = await store.authenticateGrant(id, { currentAccount: true });
    expect(found).toMatchObject({
      application_disabled: false,
      account: grant.account,
      first_used_at: grant.first_used_at,
    });
    expect(Buffer.from(found?.secret_hash ?? [])).toEqual(hashCredential(secret));
    expect(await store.findGrantHistory(id)).toMatchObject({
      application_id: data.applications[0]?.id,
      issued_by: grant.issued_by,
      redeemed_by: grant.redeemed_by,
      first_used_by: grant.first_used_by,
      revoked_by: null,
    });
  }
});

test('restore and deleteAfter undo a measurement', async () => {
  const [application] = data.applications;
  const application_id = application?.id ?? '';
  const before = await grantsOf({ application_id });
  const boundary = uuidV7(Date.now());

  const [revoked] = data.known;
  if (!revoked) throw new Error('No grant is known.');
  await store.revokeGrant({ grant_id: revoked.id, application_id, now: Date.now() });
  const { account, code_hash } = revoked.stored;
  await store.putAccount(account);
  const now = Date.now() + 1;
  const grant_id = uuidV7(now);
  const code = {
    grant_id,
    application_id,
    account_id: account.id,
    scope: 'profile.read',
    code_hash,
    ...unbound,
  };
  await store.issueCode({ ...code, code_expires_at: now + 1_000 });
  await store.redeemCode({
    ...{ grant_id, application_id, code_hash, secret_hash: code_hash, now },
    ...{ redirect_uri: null, code_challenge: null },
  });
  expect(await grantsOf({ application_id })).not.toEqual(before);

  await seeder.restore([revoked.stored]);
  await seeder.deleteAfter(boundary);
  expect(await grantsOf({ application_id })).toEqual(before);
  const found = await store.authenticateGrant(revoked.id, { currentAccount: false });
  expect(Buffer.from(found?.secret_hash ?? [])).toEqual(hashCredential(revoked.secret));
});
