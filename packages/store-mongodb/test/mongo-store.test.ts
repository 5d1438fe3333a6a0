import { testStore } from '@latchkey/store-suite';
import { describeFields } from '@latchkey/store-suite/fields';
import { describeOnLargestMongodb } from '@latchkey/test-kit/mongodb/describe';
import { openMongoTarget } from '../src/transfer.ts';
import { mongoHarness } from './mongo-harness.ts';

describeOnLargestMongodb('the store', (server) => {
  testStore('MongoDB', mongoHarness(server));

  describeFields(async () => {
    const { url, remove } = await mongoHarness(server).fresh();
    return { target: await openMongoTarget(url), remove };
  });
});
