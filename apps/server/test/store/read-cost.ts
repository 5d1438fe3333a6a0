// What reads that decide cost on a replica set, each linearizable and behind a shared fence
// (decision 13), as a Markdown table:
//
//   node apps/server/test/store/read-cost.ts [seconds of a round]
//
// The figures are medians of rounds, in which the two take turns. It starts sets of its own. They write the journal every 100 ms, as MongoDB does by default.

import { defaultTimeouts } from '@latchkey/store/server-store';
import { concernsFor } from '@latchkey/store-mongodb/concerns';
import { fencedOrder, type Order, unordered } from '@latchkey/store-mongodb/fence';
import { findMongod } from '@latchkey/test-kit/mongodb/find-mongod';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import { type Collection, MongoClient, ReadPreference, type Timestamp } from 'mongodb';
import { inBatchesByTimer } from '../../src/http/batching.ts';

const SECONDS = Number(process.argv[2] ?? 3);
const ROUNDS = 5;
const DOCUMENTS = 1_000;
const CONNECTIONS = [1, 32];
const JOURNAL_MS = 100;

interface Item {
  _id: number;
}

interface Figures {
  reads: number;
  p50: number;
  p99: number;
  bytes: number;
}

const concerns = concernsFor({ replicated: true, sharded: false, fenced: true }, defaultTimeouts);

async function measure(
  client: MongoClient,
  items: Collection<Item>,
  { read }: Order,
  connections: number,
): Promise<Figures> {
  const readInBatches = inBatchesByTimer((_id: number) =>
    read([{}], (options) => items.findOne({ _id }, options)),
  );
  const times: number[] = [];
  const { operationTime } = await client.db('admin').command({ ping: 1 });
  const start = performance.now();
  const end = start + SECONDS * 1_000;
  const work = async () => {
    while (performance.now() < end) {
      const began = performance.now();
      const _id = Math.floor(Math.random() * DOCUMENTS);
      await readInBatches(_id);
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  const seconds = (performance.now() - start) / 1_000;
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  const bytes = (await oplogBytes(client, operationTime)) / times.length;
  return { reads: times.length / seconds, p50: at(0.5), p99: at(0.99), bytes };
}

/** The size of the entries after a time. */
async function oplogBytes(client: MongoClient, since: Timestamp): Promise<number> {
  const [sum] = await client
    .db('local')
    .collection('oplog.rs')
    .aggregate<{ bytes: number }>([
      { $match: { ts: { $gt: since } } },
      { $group: { _id: null, bytes: { $sum: { $bsonSize: '$$ROOT' } } } },
    ])
    .toArray();
  return sum?.bytes ?? 0;
}

async function measureSet(name: string, set: ReplicaSet): Promise<void> {
  const client = new MongoClient(set.url, { readPreference: ReadPreference.primary });
  const items = client.db('read-cost').collection<Item>('items');
  const documents = Array.from({ length: DOCUMENTS }, (_, _id) => ({ _id }));
  await items.deleteMany({});
  await items.insertMany(documents, { writeConcern: { w: 'majority', j: true } });
  const ways: [string, Order][] = [
    ['each linearizable', unordered(concerns)],
    ['shared fence', fencedOrder(client, client.db('read-cost').collection('fences'), concerns)],
  ];
  for (const connections of CONNECTIONS) {
    const rounds = new Map<string, Figures[]>(ways.map(([way]) => [way, []]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const [way, order] of ways) {
        rounds.get(way)?.push(await measure(client, items, order, connections));
      }
    }
    for (const [way, figures] of rounds) {
      const middle = (key: keyof Figures) => median(figures.map((figure) => figure[key]));
      const cells = [name, connections, way, middle('reads').toFixed(0)];
      cells.push(middle('p50').toFixed(1), middle('p99').toFixed(1), middle('bytes').toFixed(0));
      process.stdout.write(`| ${cells.join(' | ')} |\n`);
    }
  }
  await client.close();
}

function median(figures: number[]): number {
  return figures.toSorted((one, other) => one - other)[figures.length >> 1] ?? Number.NaN;
}

async function writeJournalEvery(set: ReplicaSet, milliseconds: number): Promise<void> {
  for (const member of set.members) {
    await member.command({ setParameter: 1, journalCommitInterval: milliseconds });
  }
}

const mongod = await findMongod();
process.stdout.write(
  '| members | at once | reads | a second | p50 ms | p99 ms | oplog bytes a read |\n' +
    '| --- | --- | --- | --- | --- | --- | --- |\n',
);
const three = await ReplicaSet.start(mongod, { members: 3 });
try {
  await writeJournalEvery(three, JOURNAL_MS);
  await measureSet('three', three);
  const primary = await three.primary();
  await three.members.find((member) => member !== primary)?.kill();
  await measureSet('two of three', three);
} finally {
  await three.stop();
}
const one = await ReplicaSet.start(mongod, { members: 1 });
try {
  await writeJournalEvery(one, JOURNAL_MS);
  await measureSet('one', one);
} finally {
  await one.stop();
}
