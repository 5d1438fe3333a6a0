import { grants as kind } from '@latchkey/store/kinds';
import { everyOperation, rowsBeside } from '@latchkey/store-suite/every-operation';
import { aPast } from '@latchkey/store-suite/many-grants';
import { anAccount, anId } from '@latchkey/store-suite/records';
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
import { type Examined, joined, openExplained } from './statements.ts';

// Each command that the store sends is explained on a database, and on one of twice its size. An
// insert examines nothing, and the read-back of an uncertain write looks for one `_id`.

const GRANTS = 20_000;
const BESIDE = 200;
const FEW = [
  ...['applications', 'scopes', 'resources', 'keys'],
  ...['endpoints', 'endpoint_owners', 'deliveries'],
];

/** The most that a command of each shape examined, wherever it was sent. */
type Walk = Map<string, Examined>;

describeOnMongodb('a command', (server) => {
  const name = freshName();
  const url = withOptions(urlOf(server, name), { monitorCommands: 'true' });
  const client = new MongoClient(url);
  const walks: Walk[] = [];
  const called = new Set<string>();
  const excessive: string[] = [];
  let operations: string[] = [];

  beforeAll(async () => {
    const db = client.db(name);
    const plain = await openMongoStore({ url, clock: Date.now });
    let walk: Walk;
    const { store, close } = await openExplained(url, (shape, examined) => {
      const { keys, documents, returned, by } = walk.get(shape) ?? examined;
      walk.set(shape, {
        keys: Math.max(keys, examined.keys),
        documents: Math.max(documents, examined.documents),
        returned: Math.max(returned, examined.returned),
        // Of a collection that is not there yet, nothing is read.
        by: joined([...by.split(' '), ...examined.by.split(' ')].filter((one) => one !== '')),
      });
      const most = 2 * examined.returned + 10;
      if (Math.max(examined.keys, examined.documents) > most) {
        excessive.push(`${JSON.stringify(examined)}: ${shape}`);
      }
    });
    operations = Object.keys(store);
    const watched = new Proxy(store, {
      get(target, operation: string, receiver) {
        called.add(operation);
        return Reflect.get(target, operation, receiver);
      },
    });
    const application_id = anId();
    // The account of the first walk is erased at its end.
    for (const ofAccount of [GRANTS / 4, GRANTS / 2]) {
      const past = await aPast(
        { application_id, account: anAccount({ username: anId() }) },
        { grants: GRANTS, ofAccount },
        (grants) =>
          db.collection('grants').insertMany(grants.map(documentOf(kind)), { ordered: false }),
      );
      await rowsBeside(plain, BESIDE);
      // Operators make these, and few. So the second walk finds as many as the first.
      for (const few of FEW) await db.collection(few).deleteMany({});
      // The erasure at the end of the first walk is not told yet.
      await db.collection('grants').updateMany({}, { $unset: { marks: '' } });
      walk = new Map();
      walks.push(walk);
      await everyOperation(watched, past);
    }
    await close();
    await plain.close();
  });
  afterAll(async () => {
    await client.close();
    await dropDatabase(server, name);
  });

  test('of every operation is explained', () => {
    expect([...called].toSorted(), 'Call the new operation in every-operation.ts').toEqual(
      operations.toSorted(),
    );
  });

  // In the pull request, a reader sees what is sent now, and by which index.
  test('is as it was reviewed, with its index', async () => {
    const found = walks.flatMap((walk) => [...walk].map(([shape, { by }]) => `${by}: ${shape}`));
    const statements = [...new Set(found)].toSorted();
    await expect(`${statements.join('\n')}\n`).toMatchFileSnapshot('statements.txt');
  });

  test('goes by an index, but for what operators make, of which there are few', () => {
    const scanned = walks.flatMap((walk) =>
      [...walk].flatMap(([shape, { by }]) => (by === 'COLLSCAN' ? shape.split(' ')[1] : [])),
    );
    expect(new Set(scanned)).toEqual(new Set(['scopes']));
  });

  test('examines the same with twice the grants', () => {
    // Of a list of ids, it also examines a key in each gap between two.
    const comparable = (walk: Walk = new Map()) =>
      Object.fromEntries(
        [...walk].map(([shape, { keys, ...examined }]) => [
          shape,
          shape.includes('_id: {$in') ? examined : { keys, ...examined },
        ]),
      );
    const [once, twice] = walks;
    expect(comparable(twice)).toEqual(comparable(once));
  });

  test('examines at most twice what it returns, and 10', () => {
    expect(excessive).toEqual([]);
  });
});
