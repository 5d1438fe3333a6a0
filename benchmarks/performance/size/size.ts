import { startLatchkey } from '../contenders/latchkey.ts';
import { CONNECTIONS } from '../measure.ts';
import type { Part } from '../part.ts';
import { Results } from '../results.ts';
import { rounds } from '../rounds.ts';
import { aboutOf, storesOf } from '../stores.ts';
import { restWire } from '../wires/rest.ts';
import { note, type Workbench } from '../workbench.ts';
import { fill } from './fill.ts';
import { checkTargets, type Pair, report } from './report.ts';
import { stock } from './stored-grants.ts';
import { type Entry, REVOKED, turnOn } from './turn.ts';

const FEW = 1_000;

async function prepare(
  workbench: Workbench,
  { name, url, count }: { name: string; url: string; count: number },
): Promise<Omit<Entry, 'store'>> {
  note(`Storing ${name} …`);
  const stored = stock(count);
  const shelf = await fill(url, stored);
  const { applications, applicationSecret, accounts, known } = stored;
  const parties = {
    application: { id: applications[0]?.id ?? '', secret: applicationSecret },
    accountIds: accounts.map(({ id }) => id),
  };
  const running = await workbench.start(name, (place) =>
    startLatchkey(place, url, restWire, parties),
  );
  return { name, running, shelf, known };
}

/** Whether an operation takes longer where many grants are stored. */
export const size: Part = {
  page: 'size',
  title: 'Cost against size',
  async measure(workbench, quick) {
    const { many, requests, roundCount } = quick
      ? { many: 100_000, requests: 500, roundCount: 3 }
      : { many: 5_000_000, requests: 2_000, roundCount: 15 };
    const stores = await storesOf(workbench);
    const results = new Results();
    const pairs: Pair[] = [];
    // One store after the other: while one is filled for minutes, the machine would forget the pages of
    // the one before, and its figures would be those of the disk.
    for (const store of stores) {
      const nameOf = (count: number) => `${count.toLocaleString('en')} grants on ${store.name}`;
      pairs.push({ store: store.name, few: nameOf(FEW), many: nameOf(many) });
      const entries: Entry[] = [];
      try {
        for (const count of [FEW, many]) {
          const database = { name: nameOf(count), url: await store.newUrl(), count };
          entries.push({ ...(await prepare(workbench, database)), store });
        }
        for (const { order, counts } of rounds(entries, roundCount)) {
          for (const entry of order) {
            const samples = await turnOn(entry, Math.ceil(requests * store.share));
            if (counts) results.add(entry.name, CONNECTIONS, samples);
          }
        }
      } finally {
        for (const { shelf } of entries) await shelf.close();
      }
    }
    return {
      conditions: [
        `${CONNECTIONS} connections`,
        `${requests} requests a turn (${REVOKED} to revoke stored grants)`,
        `${roundCount} rounds`,
        ...aboutOf(stores),
      ],
      text: report(results, pairs, [FEW, many]),
      checked: checkTargets(results, pairs),
    };
  },
};
