import { grants as kind } from '@latchkey/store/kinds';
import { everyOperation } from '@latchkey/store-suite/every-operation';
import { aPast } from '@latchkey/store-suite/many-grants';
import { anAccount, anId } from '@latchkey/store-suite/records';
import { manyOfEach, watched } from '@latchkey/store-suite/rows-read';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import {
  dropDatabase,
  freshName,
  urlOf,
  withOptions,
} from '@latchkey/test-kit/mongodb/test-databases';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentOf } from '../src/encoding.ts';
import { openMongoStore } from '../src/mongo-store.ts';
import { openExplained } from './statements.ts';

// Every operation of the store, and each step behind the requests, on two databases, the second of
// which has twice as much of everything.

const SIZES = [60, 120];

// A batch is looked for, changed by its keys, and read again; each of its deliveries has an endpoint to look up.
const OF_ROW = 4;
const SPARE = 20;

describeOnMongodb('it reads the rows that it answers, and few others', (server) => {
  /** What each operation read beyond its rows, at the most, at each size. */
  const walks: Map<string, number>[] = [];
  const operations = new Set<string>();
  const names: string[] = [];

  beforeAll(async () => {
    for (const size of SIZES) {
      const name = freshName();
      names.push(name);
      const url = withOptions(urlOf(server, name), { monitorCommands: 'true' });
      const filled = await openMongoStore({ url, clock: Date.now, recordsEvents: true });
      const client = new MongoClient(url);
      const past = await aPast(
        { application_id: anId(), account: anAccount({ username: anId() }) },
        { grants: 4_000, ofAccount: 1_000 },
        (grants) =>
          client
            .db(name)
            .collection('grants')
            .insertMany(grants.map(documentOf(kind)) as never),
      );
      await client.close();
      await manyOfEach(filled, past, size);
      await filled.close();

      const worst = new Map<string, number>();
      walks.push(worst);
      let read = 0;
      const { store, takeChanged, close } = await openExplained(url, (_, { keys, documents }) => {
        read += Math.max(keys, documents);
      });
      for (const operation of Object.keys(store)) operations.add(operation);
      const told = watched(store, ({ operation, rows }) => {
        const beyond = read - OF_ROW * (rows + takeChanged());
        worst.set(operation, Math.max(worst.get(operation) ?? 0, beyond));
        read = 0;
      });
      await everyOperation(told, past);
      await close();
    }
  });
  afterAll(() => Promise.all(names.map((name) => dropDatabase(server, name))));

  test('in every operation, and each step of work', () => {
    const known = new Set(walks.flatMap((walk) => [...walk.keys()]));
    const left = [...operations].filter((name) => !known.has(name));
    expect(left.toSorted()).toEqual(['doStep', 'housekeeping']);
  });

  test('whatever else there is', () => {
    const [once = new Map(), twice = new Map()] = walks;
    const more = [...twice].filter(
      ([operation, beyond]) => beyond > (once.get(operation) ?? 0) + SPARE,
    );
    expect(more.map(([operation]) => operation)).toEqual([]);
  });
});
