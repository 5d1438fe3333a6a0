import type { Store } from '@latchkey/store/store';
import { issued, redemptionOf } from '@latchkey/store-suite/records';
import { describeWithMongod } from '@latchkey/test-kit/mongodb/describe';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import { urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openMongoStore } from '../../src/mongo-store.ts';

describeWithMongod('a server that refuses all writes', (mongod) => {
  let set: ReplicaSet;
  let store: Store;

  beforeAll(async () => {
    set = await ReplicaSet.start(mongod, { members: 1 });
    store = await openMongoStore({ url: urlOf(set.url, 'latchkey'), clock: Date.now });
  });
  afterAll(async () => {
    await store.close();
    await set.stop();
  });

  const blockWrites = async (global: boolean) =>
    (await set.primary()).command({ setUserWriteBlockMode: 1, global });

  // What MongoDB 8 and Atlas do if a disk is nearly full.
  test('changes nothing, says why at once, and the code works when it accepts them again', async () => {
    const code = await issued(store);
    await blockWrites(true);
    await expect(store.redeemCode(redemptionOf(code))).rejects.toMatchObject({
      code: 'store_unavailable',
      cause: { message: expect.stringMatching(/UserWritesBlocked.*: free disk space/) },
    });
    await blockWrites(false);
    expect(await store.redeemCode(redemptionOf(code))).not.toBeNull();
  });
});
