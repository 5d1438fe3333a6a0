// The race and the abuse against each server, at each latency. Prints the tables, and writes them
// to results/races.md and into the page that explains them.
import { readFile, writeFile } from 'node:fs/promises';
import { mongoHarness } from '../../apps/server/src/store/mongodb/mongo-harness.ts';
import { sqliteHarness } from '../../apps/server/src/store/sqlite/sqlite-harness.ts';
import type { StoreHarness } from '../../apps/server/src/store/suite-harness.ts';
import {
  type MongoDBServer,
  MongoDBUnavailable,
  startMongoDB,
} from '../../apps/server/test/mongodb/start.ts';
import { versionsOf } from '../versions.ts';
import { abuses, unharmed } from './abuse.ts';
import { startBetterAuth } from './better-auth.ts';
import type { Contender } from './contender.ts';
import { startLatchkey } from './latchkey.ts';
import type { Latency } from './latency.ts';
import { startOidcProvider } from './oidc-provider.ts';
import { race } from './race.ts';
import { type Measured, report } from './report.ts';

const latencies: Latency[] = [0, 2];
const sizes = { codes: 100, redeemers: 8, abused: 10 };

interface Entry {
  server: string;
  start(latency: Latency): Promise<Contender>;
}

/** Latchkey on databases of a kind, an empty one for each start. */
const latchkeyOn = (store: string, harness: StoreHarness): Entry => ({
  server: `Latchkey on ${store}`,
  async start(latency) {
    const database = await harness.fresh();
    const contender = await startLatchkey({ databaseUrl: database.url, latency });
    return {
      ...contender,
      async close() {
        await contender.close();
        await database.remove();
      },
    };
  },
});

async function measure({ server, start }: Entry, latency: Latency): Promise<Measured> {
  process.stderr.write(`${server}, store latency ${latency} ms …\n`);
  const contender = await start(latency);
  const raced = await race(contender, sizes);
  const counts: number[] = [];
  for (const abuse of abuses) {
    counts.push(await unharmed(contender, abuse, { codes: sizes.abused }));
  }
  await contender.close();
  return { server, latency, race: raced, unharmed: counts };
}

async function mongodb(): Promise<MongoDBServer | null> {
  try {
    return await startMongoDB();
  } catch (error) {
    if (!(error instanceof MongoDBUnavailable)) throw error;
    process.stderr.write(`Latchkey on MongoDB is not run: ${error.message}\n`);
    return null;
  }
}

const database = await mongodb();

const entries: Entry[] = [
  latchkeyOn('SQLite', sqliteHarness),
  ...(database
    ? [latchkeyOn(database.isStandIn ? 'MongoDB (*)' : 'MongoDB', mongoHarness(database.url))]
    : []),
  { server: 'oidc-provider', start: (latency) => startOidcProvider({ latency }) },
  { server: 'better-auth', start: (latency) => startBetterAuth({ latency }) },
];

const measured: Measured[] = [];
for (const entry of entries) {
  for (const latency of latencies) measured.push(await measure(entry, latency));
}
await database?.stop();

const peers = await versionsOf(['@better-auth/oauth-provider', 'better-auth', 'oidc-provider']);
const date = new Date().toISOString().slice(0, 10);
const conditions = [
  `${date}, Node ${process.versions.node}. ${peers}.`,
  ...(database?.isStandIn ? [`(*) In place of MongoDB: ${database.description}.`] : []),
].join('\n');
const text = report(measured, sizes, conditions);
process.stdout.write(`\n${text}`);

await writeFile(
  new URL('../results/races.md', import.meta.url),
  `# Races and abuse\n\nWritten by \`npm run bench:races\`; [what it means, and how each server is set up](../../docs/races.md).\n\n${text}`,
);
const page = new URL('../../docs/races.md', import.meta.url);
const between = /(?<=<!-- results -->\n\n).*(?=\n<!-- end of results -->)/s;
await writeFile(
  page,
  (await readFile(page, 'utf8')).replace(between, () => text),
);
