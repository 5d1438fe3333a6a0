import type { Benchmark } from '../benchmark.ts';
import { startLatchkey } from '../contenders/latchkey.ts';
import { type Harness, onEachStore } from '../harness.ts';
import { CONNECTIONS, rounds } from '../measure.ts';
import { logProgress } from '../progress.ts';
import { Results } from '../results.ts';
import { restWire } from '../wires/rest.ts';
import { type Entry, measureEntry, REVOKED } from './operations.ts';
import { type Pair, report, sizeTargets } from './report.ts';
import { seed } from './seed.ts';
import { seedData } from './seed-data.ts';

const FEW = 1_000;

async function startSeeded(
  harness: Harness,
  { name, url, count }: { name: string; url: string; count: number },
): Promise<Omit<Entry, 'store'>> {
  logProgress(`Storing ${name} …`);
  const data = seedData(count);
  const seeder = await seed(url, data);
  const { applications, applicationSecret, accounts, known } = data;
  const parties = {
    application: { id: applications[0]?.id ?? '', secret: applicationSecret },
    accountIds: accounts.map(({ id }) => id),
  };
  const server = await harness.start(name, (options) =>
    startLatchkey(options, url, { wire: restWire }, parties),
  );
  return { name, server, seeder, known };
}

/** Whether an operation takes longer if many grants are stored. */
export const size: Benchmark = {
  page: 'size',
  title: 'Latency by number of grants',
  async run(mongodbs, quick) {
    const { many, requests, roundCount } = quick
      ? { many: 100_000, requests: 500, roundCount: 3 }
      : { many: 5_000_000, requests: 2_000, roundCount: 15 };
    const results = new Results();
    const pairs: Pair[] = [];
    // One store after the other. Filling the second for minutes would evict the first from the
    // page cache, and its figures would be those of the disk.
    const servers = await onEachStore(mongodbs, async (harness, store) => {
      const nameOf = (count: number) => `${count.toLocaleString('en')} grants on ${store.name}`;
      pairs.push({ store: store.name, few: nameOf(FEW), many: nameOf(many) });
      const entries: Entry[] = [];
      try {
        for (const count of [FEW, many]) {
          const database = { name: nameOf(count), url: await store.newUrl(), count };
          entries.push({ ...(await startSeeded(harness, database)), store });
        }
        for (const { order, isWarmUp } of rounds(entries, roundCount)) {
          for (const entry of order) {
            const samples = await measureEntry(entry, Math.ceil(requests * store.share));
            if (!isWarmUp) results.add(entry.name, CONNECTIONS, samples);
          }
        }
      } finally {
        for (const { seeder } of entries) await seeder.close();
      }
      // The page is written at the end. Whoever interrupts the next store has at least these.
      logProgress(`\n${report(results, pairs.slice(-1), [FEW, many])}\n`);
    });
    return {
      conditions: [
        `${CONNECTIONS} connections`,
        `${requests} requests per operation (${REVOKED} that revoke stored grants)`,
        `${roundCount} rounds`,
        ...servers,
      ],
      text: report(results, pairs, [FEW, many]),
      targets: sizeTargets(results, pairs),
    };
  },
};
