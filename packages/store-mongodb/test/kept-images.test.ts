import {
  anAccount,
  anEndedTry,
  anEndpoint,
  anId,
  anInitiator,
  granted,
} from '@latchkey/store-suite/records';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { toId } from '../src/values.ts';
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

  test('has no message of an account that is told, or told again', async () => {
    const database = await mongoHarness(server).fresh();
    onTestFinished(() => database.remove());
    const store = await database.open({ recordsEvents: true });
    onTestFinished(() => store.close());
    const endpoint = anEndpoint();
    await store.createEndpoint(endpoint, { most: 5 });
    const account = anAccount();
    await store.putAccount(account);
    await store.putAccount({ ...account, username: 'ada2' });
    const now = Date.now();
    await store.makeDeliveries(now);
    const claim = anId();
    const endpoint_id = endpoint.id;
    const endpoints = [{ id: endpoint_id, most: 1 }];
    const [claimed] = await store.claimDeliveries({ now, claim, endpoints });
    const delivery_id = claimed?.delivery.id ?? '';
    await store.endTries([anEndedTry({ delivery_id, claim, endpoint_id })]);
    expect(await store.retryDelivery(delivery_id, now)).not.toBeNull();
    await using client = new MongoClient(server);
    const images = client.db('config').collection('image_collection');
    expect(await images.countDocuments({ 'image._id': toId(delivery_id) })).toBe(0);
  });
});
