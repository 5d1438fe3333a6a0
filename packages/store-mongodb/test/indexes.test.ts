import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { runInNewContext } from 'node:vm';
import type { Store } from '@latchkey/store/store';
import { aCode, anAccount } from '@latchkey/store-suite/records';
import type {} from '@latchkey/test-kit/global-setup';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import { freshName, patientUrlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import type { GrantDocument } from '../src/documents.ts';
import { indexesOf } from '../src/indexes.ts';
import { type MongoStoreOptions, openMongoStore } from '../src/mongo-store.ts';
import { pendingDocument } from './documents.ts';

const given = inject('mongodbUrl');
const mongod = inject('mongod');
const firstPage = { limit: 5, before: null };

describe.skipIf(!given)(given ? 'indexes' : 'indexes (not run: there is no MongoDB)', () => {
  const name = freshName();
  let url: string;
  let set: ReplicaSet | undefined;
  let client: MongoClient;
  const grants = () => client.db(name).collection<GrantDocument>('grants');
  const open = (options: Partial<MongoStoreOptions> = {}): Promise<Store> =>
    openMongoStore({ url: patientUrlOf(url, name), clock: Date.now, ...options });

  beforeAll(async () => {
    // A server of its own, where one can be started: a test here holds up every index build on it.
    set = mongod && (await ReplicaSet.start(mongod, { members: 1 }));
    url = set?.url ?? (given as string);
    client = await new MongoClient(url).connect();
  });
  afterEach(() => client.db(name).dropDatabase());
  afterAll(async () => {
    await client.close();
    await set?.stop();
  });

  test('are created once, also by several stores at the same time', async () => {
    for (const store of await Promise.all([open(), open(), open()])) await store.close();
    await (await open()).close();
    const names = (await grants().indexes()).map((index) => index.name);
    expect(names.toSorted()).toEqual(
      ['_id_', ...(indexesOf().grants ?? []).map((index) => index.name)].toSorted(),
    );
  });

  test('have one more where old revoked grants are reduced, also in a database that exists', async () => {
    const find = async () =>
      (await grants().indexes()).some(({ name }) => name === 'revoked_with_details');
    await (await open()).close();
    expect(await find()).toBe(false);
    const store = await open({ revokedGrantDays: 1 });
    await expect.poll(find).toBe(true);
    await store.close();
  });

  test('of the operator are not touched', async () => {
    await grants().createIndex({ scope: 1 }, { name: 'by_scope' });
    await (await open()).close();
    expect((await grants().indexes()).map((index) => index.name)).toContain('by_scope');
  });

  test.each([
    ['other options', { code_expires_at: 1 }, { expireAfterSeconds: 60 }],
    ['other fields', { code_hash: 1 }, {}],
    ['another filter', { code_expires_at: 1 }, { expireAfterSeconds: 0 }],
  ] as const)('fail the start if one of the same name has %s', async (_, key, options) => {
    await grants().createIndex(key, { name: 'grants_by_expiry', ...options });
    const start = open();
    await expect(start).rejects.toThrow(/^DATABASE_URL: [^\n]*'grants_by_expiry'[^\n]*drop it/);
    await grants().dropIndex('grants_by_expiry');
    await (await open()).close();
  });

  test('fail the start if one of the same name has the fields in another order', async () => {
    await grants().createIndex({ _id: -1, account_id: 1 }, { name: 'grants_by_account' });
    await expect(open()).rejects.toThrow(/'grants_by_account'/);
  });

  test('fail the start if another one has the same fields', async () => {
    await grants().createIndex({ account_id: 1, _id: 1 }, { name: 'mine' });
    await expect(open()).rejects.toThrow(/'mine'.*'grants_by_account'.*dropIndex\('mine'\)/);
  });

  test('come back after their collection was dropped', async () => {
    const store = await open({ timeouts: { indexCheck: 50 } });
    await client.db(name).collection('rate_limit_counts').drop();
    await store.addToCount({ key: 'a', points: 1, now: Date.now(), duration: 1_000 });
    await vi.waitFor(
      async () => {
        const indexes = await client.db(name).collection('rate_limit_counts').indexes();
        expect(indexes.map((index) => index.name)).toContain('window_end');
      },
      { timeout: 20_000 },
    );
    await store.close();
  });

  test('are built behind the requests in a collection with documents', async () => {
    await (await open()).close();
    const code = aCode();
    await grants().insertOne(pendingDocument(code));
    await grants().dropIndexes();
    await hangBuilds(true);
    const reported: unknown[] = [];
    const store = await open({
      timeouts: { indexCheck: 20 },
      onError: (error) => reported.push(error),
    });
    try {
      // No build ends before this is over.
      expect(await store.findCode(code.grant_id)).not.toBeNull();
      expect(await store.listGrants({ account_id: code.account.id }, firstPage)).toEqual([]);
      await expect.poll(buildsUnderWay).toBe(1);
      // It looks often, and sends no second one.
      await sleep(300);
      expect(await buildsUnderWay()).toBe(1);
    } finally {
      await hangBuilds(false);
    }
    await expect.poll(buildsUnderWay).toBe(0);
    await store.close();
    expect(reported).toEqual([]);
    expect((await grants().indexes()).map((index) => index.name).toSorted()).toEqual(
      ['_id_', ...(indexesOf().grants ?? []).map((index) => index.name)].toSorted(),
    );
  });

  const hangBuilds = (on: boolean) =>
    client.db('admin').command({
      configureFailPoint: 'hangAfterStartingIndexBuild',
      mode: on ? 'alwaysOn' : 'off',
    });

  async function buildsUnderWay(): Promise<number> {
    const builds = {
      'command.createIndexes': { $exists: true },
      'command.$db': name,
      // The command of a client, without the thread that builds.
      connectionId: { $exists: true },
    };
    // The command `currentOp` leaves long commands out.
    const admin = client.db('admin');
    const found = await admin.aggregate([{ $currentOp: {} }, { $match: builds }]).toArray();
    return found.length;
  }

  test('give the order of a list: a part costs its own entries', async () => {
    const store = await open();
    const account = anAccount();
    const lists = async () => {
      const [first] = await store.listGrants({ account_id: account.id }, firstPage);
      return store.listGrants(
        { account_id: account.id },
        { limit: 5, before: first?.grant_id ?? null },
      );
    };
    const documents = Array.from({ length: 500 }, (_, index) => {
      const { code_expires_at, ...pending } = pendingDocument(
        aCode(index % 25 === 0 ? { account } : {}),
      );
      return { ...pending, created_at: new Date() };
    });
    await grants().insertMany(documents);
    await client.db(name).command({ profile: 2 });
    await lists();
    await client.db(name).command({ profile: 0 });
    const finds = await client
      .db(name)
      .collection('system.profile')
      .find({ 'command.find': 'grants' })
      .toArray();
    expect(finds).toHaveLength(2);
    for (const { command, keysExamined } of finds) {
      expect(command.hint).toBe('grants_by_account');
      expect(keysExamined).toBeLessThanOrEqual(6);
    }
    await store.close();
  });
});

test('indexes.js has the command for each index', async () => {
  const url = new URL('../../../deploy/mongodb/indexes.js', import.meta.url);
  const commands = await readFile(url, 'utf8');
  const found: string[] = [];
  const collection = (name: string) => ({
    createIndex: (...words: unknown[]) => found.push(`${name} ${JSON.stringify(words)}`),
  });
  runInNewContext(commands, { db: new Proxy({}, { get: (_, name) => collection(String(name)) }) });
  const wanted = Object.entries(indexesOf()).flatMap(([collection, indexes]) =>
    indexes.map(
      ({ name, key, options }) =>
        `${collection} ${JSON.stringify([key, { name, ...options }, 'majority'])}`,
    ),
  );
  expect(found.toSorted()).toEqual(wanted.toSorted());
});
