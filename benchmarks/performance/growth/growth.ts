import { loadavg } from 'node:os';
import { join } from 'node:path';
import type { Benchmark } from '../benchmark.ts';
import { startLatchkey } from '../contenders/latchkey.ts';
import { type Harness, onMongodb, withHarness } from '../harness.ts';
import { CONNECTIONS, rounds } from '../measure.ts';
import { logProgress } from '../progress.ts';
import { restWire } from '../wires/rest.ts';
import { Figures } from './figures.ts';
import { makeDatabase, partsFor } from './make-database.ts';
import {
  type Entry,
  measureBesideDeletion,
  measureRound,
  type Sizes,
  untilCounted,
} from './operations.ts';
import { recordsOf } from './records.ts';
import { report, type StoreFigures, targetsOf } from './report.ts';

interface Extent extends Sizes {
  rounds: number;
  few: number;
  many: number;
}

async function start(harness: Harness, count: number, extent: Extent): Promise<Entry> {
  const removed = (extent.rounds + 1) * extent.remove;
  const parts = { ...partsFor(extent.few), erasures: removed, deletions: removed };
  const records = recordsOf(count, parts);
  let backup: string | null = null;
  const server = await harness.start(`${count.toLocaleString('en')} grants`, async (options) => {
    const { folder, databaseUrl } = options;
    await makeDatabase(databaseUrl ?? `file:${join(folder, 'latchkey.db')}`, records);
    if (databaseUrl === undefined) backup = join(folder, 'backup.db');
    const settings = { METRICS: 'on' };
    return startLatchkey({ ...options, settings }, { wire: restWire });
  });
  const entry = { server, records, figures: new Figures(), backup };
  await untilCounted(entry);
  return entry;
}

/** One store after the other, so that making the databases of one evicts nothing of another from memory. */
async function measureStore(
  store: string,
  harness: Harness,
  extent: Extent,
): Promise<StoreFigures> {
  const few = await start(harness, extent.few, extent);
  const many = await start(harness, extent.many, extent);
  let round = 0;
  for (const { order } of rounds([few, many], extent.rounds)) {
    await measureRound(order, extent, round++);
  }
  logProgress('Deleting a large application …');
  for (const entry of [few, many]) await measureBesideDeletion(entry, extent);
  const counts = [extent.few, extent.many] as const;
  return { store, counts, figures: [few.figures, many.figures] };
}

/** Whether operations take longer if many grants are stored. */
export const growth: Benchmark = {
  page: 'growth',
  title: 'Growth',
  async run(mongodbs, quick) {
    const onSqlite: Extent = quick
      ? {
          ...{ rounds: 2, few: 2_000, many: 20_000 },
          ...{ convert: 100, authenticate: 200, revoke: 40, read: 50, readLarge: 3, remove: 2 },
        }
      : {
          ...{ rounds: 8, few: 20_000, many: 2_000_000, convert: 600, authenticate: 1_200 },
          ...{ revoke: 140, read: 250, readLarge: 10, remove: 3 },
        };
    const onMongo: Extent = quick
      ? onSqlite
      : { ...onSqlite, many: 500_000, convert: 150, authenticate: 300, read: 80 };
    const conditions = [
      `${onSqlite.rounds} rounds`,
      `${CONNECTIONS} connections`,
      `a load average of ${loadavg()[0]?.toFixed(1)} before`,
    ];
    const stores = [
      await withHarness(undefined, [], (harness) => measureStore('SQLite', harness, onSqlite)),
    ];
    // The page is written at the end. Who interrupts what follows has at least this.
    logProgress(`\n${report(stores)}\n`);
    const [mongodb] = mongodbs;
    if (mongodb) {
      stores.push(
        await onMongodb(mongodb, (harness, { description }) => {
          conditions.push(description);
          return measureStore(mongodb.name, harness, onMongo);
        }),
      );
    }
    return { conditions, text: report(stores), targets: stores.flatMap(targetsOf) };
  },
};
