import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { toId } from '../../../src/store/mongodb/documents/values.ts';
import { describeOnMongodb } from '../../http/databases.ts';
import { anInitiator, granted } from '../suite/records.ts';
import { mongoHarness } from './mongo-harness.ts';

describeOnMongodb('what MongoDB keeps for its retries', (server) => {
  test('has no name of a grant that is used', async () => {
    const database = await mongoHarness(server).fresh();
    onTestFinished(() => database.remove());
    const store = await database.open();
    onTestFinished(() => store.close());
    const { grant, secret_hash } = await granted(store);
    await using client = new MongoClient(server);
    const images = client.db('config').collection('image_collection');
    const ofGrant = {
      'image._id': toId(grant.grant_id),
      'image.account.username': { $exists: true },
    };
    // The redemption is a findAndModify.
    expect((await images.deleteMany(ofGrant)).deletedCount).toBe(1);
    const { grant_id } = grant;
    const use = { grant_id, secret_hash, now: Date.now(), initiator: anInitiator() };
    expect(await store.noteUse(use)).toBe(true);
    expect(await images.countDocuments(ofGrant)).toBe(0);
  });
});
