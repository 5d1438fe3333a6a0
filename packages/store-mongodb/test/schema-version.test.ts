import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { freshName, patientUrlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openMongoStore } from '../src/mongo-store.ts';

describeOnMongodb('the schema version', (server) => {
  const name = freshName();
  let client: MongoClient;
  beforeAll(async () => {
    client = await new MongoClient(server).connect();
  });
  afterEach(() => client.db(name).dropDatabase());
  afterAll(() => client.close());

  /** Opens a store, and closes it. */
  async function start(create = true) {
    const store = await openMongoStore({
      ...{ url: patientUrlOf(server, name), clock: Date.now, create },
    });
    await store.close();
  }
  const versions = () => client.db(name).collection('schema');

  test('of a new database is that of the program, also if several processes start at once', async () => {
    await Promise.all([1, 2, 3].map(() => start()));
    expect(await versions().find().toArray()).toEqual([{ _id: 'version', version: 1, oldest: 1 }]);
  });

  // A program of this version must know them already, when the next one brings a step.
  test('that is newer is used if it says that this program can, and else refused', async () => {
    await start();
    const newer = (oldest: number) => versions().updateOne({}, { $set: { version: 3, oldest } });
    await newer(1);
    await start();
    await start(false);
    expect(await versions().findOne()).toMatchObject({ version: 3, oldest: 1 });
    await newer(2);
    for (const create of [true, false]) {
      await expect(start(create)).rejects.toThrow(
        /^The database \S+ was migrated or created by a newer Latchkey: its schema is version 3, and this program knows 1\. Run that version/,
      );
    }
  });
});
