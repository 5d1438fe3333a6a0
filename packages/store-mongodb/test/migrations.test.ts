import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { freshName, patientUrlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { MongoClient } from 'mongodb';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type MongoStep, migrations } from '../src/migrations.ts';
import { type MongoStoreOptions, openMongoStore } from '../src/mongo-store.ts';

const noWork = async () => {};
const additive: MongoStep = { title: 'add', additive: true, rewrites: false, run: noWork };
const breaking: MongoStep = { title: 'rename', additive: false, rewrites: true, run: noWork };

describeOnMongodb('the schema version', (server) => {
  const name = freshName();
  let client: MongoClient;
  beforeAll(async () => {
    client = await new MongoClient(server).connect();
  });
  afterEach(() => client.db(name).dropDatabase());
  afterAll(() => client.close());

  /** Opens a store with so many further steps, and closes it. */
  async function start(steps: MongoStep[], options: Partial<MongoStoreOptions> = {}) {
    const store = await openMongoStore({
      ...{ url: patientUrlOf(server, name), clock: Date.now },
      ...{ migrations: [...migrations, ...steps] },
      ...options,
    });
    await store.close();
  }
  const version = () => client.db(name).collection('schema').findOne({});

  test('of a new database is that of the program', async () => {
    await start([]);
    expect(await version()).toMatchObject({ version: 1, oldest: 1 });
  });

  test('that is later is used by programs that can live with its steps, and by no others', async () => {
    await start([additive]);
    expect(await version()).toMatchObject({ version: 2, oldest: 1 });
    await start([]);
    await start([], { migrate: false });
    expect(await version()).toMatchObject({ version: 2, oldest: 1 });
    await client.db(name).dropDatabase();
    await start([additive, breaking]);
    expect(await version()).toMatchObject({ version: 3, oldest: 3 });
    await expect(start([])).rejects.toThrow(
      /^The database \S+ was migrated or created by a newer Latchkey: its schema is version 3, and this program knows 1\. Run that version/,
    );
  });

  test('that is earlier is migrated by a start if programs before can live with that', async () => {
    await start([]);
    await expect(start([additive], { migrate: false })).rejects.toThrow('Run `latchkey migrate`.');
    await expect(start([additive, breaking])).rejects.toThrow('Stop them all, then run');
    expect(await version()).toMatchObject({ version: 1 });
    await start([additive]);
    expect(await version()).toMatchObject({ version: 2, oldest: 1 });
  });

  test('is that of the steps that were made, if one fails; a repetition makes the rest', async () => {
    await start([]);
    const made: string[] = [];
    let fails = true;
    const first = { ...additive, run: async () => void made.push('first') };
    const second = {
      ...additive,
      async run() {
        if (fails) throw new TypeError('a step failed');
        made.push('second');
      },
    };
    const migrating = start([first, second], { onError: (error) => made.push(String(error)) });
    await migrating;
    expect(made).toEqual(['first', 'TypeError: a step failed']);
    expect(await version()).toMatchObject({ version: 2 });
    fails = false;
    await start([first, second]);
    expect(made.slice(2)).toEqual(['second']);
    expect(await version()).toMatchObject({ version: 3, oldest: 1 });
  });

  test('is raised once by several processes at once, also of several versions', async () => {
    await start([]);
    await Promise.all([
      ...[1, 2, 3].map(() => start([additive])),
      ...[1, 2, 3].map(() => start([additive, additive])),
      ...[1, 2, 3].map(() => start([])),
    ]);
    expect(await version()).toMatchObject({ version: 3, oldest: 1 });
  });
});
