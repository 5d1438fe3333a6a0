import { granted } from '@latchkey/store-suite/records';
import { describeWithMongod } from '@latchkey/test-kit/mongodb/describe';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import { urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openMongoStore } from '../../src/mongo-store.ts';

const options = { timeout: 600_000 };

describeWithMongod('a member with a vote that is down', (mongod) => {
  let set: ReplicaSet;
  beforeAll(async () => {
    set = await ReplicaSet.start(mongod, { members: 3 });
  });
  afterAll(() => set.stop());

  test('holds up neither the requests nor the build of a missing index', options, async () => {
    const url = urlOf(set.url, 'latchkey');
    const open = () => openMongoStore({ url, clock: Date.now });
    const before = await open();
    const { grant } = await granted(before);
    await before.close();
    const client = await new MongoClient(set.url).connect();
    const grants = client.db('latchkey').collection('grants');
    await grants.dropIndexes();
    const primary = await set.primary();
    await set.members.find((member) => member !== primary)?.kill();

    const store = await open();
    expect(await store.findCode(grant.grant_id)).toMatchObject({ redeemed: true });
    await vi.waitFor(
      async () => {
        const stats = await grants.aggregate([{ $indexStats: {} }]).toArray();
        const built = stats.filter(({ building }) => building !== true);
        expect(built.map(({ name }) => name)).toContain('grants_by_account');
      },
      { timeout: 60_000, interval: 100 },
    );
    await store.close();
    await client.close();
  });
});
