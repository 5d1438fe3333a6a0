import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Store } from '../store.ts';
import type { GrantDocument } from './documents.ts';
import { grantIndexes } from './indexes.ts';
import { freshName, urlOf } from './mongo-harness.ts';
import { openMongoStore } from './mongo-store.ts';

const url = inject('mongodbUrl');

describe.skipIf(!url)(url ? 'indexes' : 'indexes (not run: there is no MongoDB)', () => {
  const name = freshName();
  let client: MongoClient;
  const grants = () => client.db(name).collection<GrantDocument>('grants');
  const open = (): Promise<Store> =>
    openMongoStore({ url: urlOf(url ?? '', name), clock: Date.now });

  beforeAll(async () => {
    client = await new MongoClient(url ?? '').connect();
  });
  afterEach(() => client.db(name).dropDatabase());
  afterAll(() => client.close());

  test('are made once, by whoever comes, and found right by all', async () => {
    for (const store of await Promise.all([open(), open(), open()])) await store.close();
    await (await open()).close();
    const names = (await grants().indexes()).map((index) => index.name);
    expect(names.toSorted()).toEqual(
      ['_id_', ...grantIndexes.map((index) => index.name)].toSorted(),
    );
  });

  test("leave an operator's own alone", async () => {
    await grants().createIndex({ scope: 1 }, { name: 'by_scope' });
    await (await open()).close();
    expect((await grants().indexes()).map((index) => index.name)).toContain('by_scope');
  });

  test.each([
    ['other options', { code_expires_at: 1 }, { expireAfterSeconds: 60 }],
    ['other fields', { code_hash: 1 }, {}],
    ['another filter', { code_expires_at: 1 }, { expireAfterSeconds: 0 }],
  ] as const)('fail the start where there is one of the name with %s', async (_, key, options) => {
    await grants().createIndex(key, { name: 'pending_expiry', ...options });
    const start = open();
    await expect(start).rejects.toThrow(/^DATABASE_URL: [^\n]*'pending_expiry'[^\n]*drop it/);
    await grants().dropIndex('pending_expiry');
    await (await open()).close();
  });

  test('fail the start where there is one of the fields in another order', async () => {
    await grants().createIndex({ _id: -1, account_id: 1 }, { name: 'exchanged_by_account' });
    await expect(open()).rejects.toThrow(/'exchanged_by_account'/);
  });
});
