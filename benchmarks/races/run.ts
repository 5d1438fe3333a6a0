// Runs the race and the abuse against each server, at each store latency. Prints the tables, and
// writes them to results/races.md and docs/races.md.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type MongoDBServer,
  MongoDBUnavailable,
  startMongoDB,
} from '../../packages/test-kit/src/mongodb/start.ts';
import {
  dropDatabase,
  freshName,
  urlOf,
} from '../../packages/test-kit/src/mongodb/test-databases.ts';
import { packageVersions } from '../package-versions.ts';
import { startBetterAuth } from './better-auth.ts';
import type { Contender } from './contender.ts';
import { startLatchkey } from './latchkey.ts';
import { startOidcProvider } from './oidc-provider.ts';
import { ABUSES, type Measurement, RACE, REPLAYS, report } from './report.ts';

const latencies = [0, 2];

interface Entry {
  server: string;
  start(latency: number): Promise<Contender>;
}

async function startOnSqlite(latency: number): Promise<Contender> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-races-'));
  const contender = await startLatchkey(`file:${join(folder, 'latchkey.db')}`, latency);
  return {
    ...contender,
    async close() {
      await contender.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function startOnMongodb(server: string, latency: number): Promise<Contender> {
  const name = freshName();
  const contender = await startLatchkey(urlOf(server, name), latency);
  return {
    ...contender,
    async close() {
      await contender.close();
      await dropDatabase(server, name);
    },
  };
}

async function measure({ server, start }: Entry, latency: number): Promise<Measurement> {
  process.stderr.write(`${server}, store latency ${latency} ms …\n`);
  const contender = await start(latency);
  const rows = await contender.measure([RACE, ...ABUSES, ...REPLAYS]);
  await contender.close();
  // A server that breaks down has neither redeemed nor refused.
  const unclear = rows.find(({ verdict }) => verdict === 'error' || verdict === 'skipped');
  if (unclear) throw new Error(`${server}, ${unclear.id}: ${unclear.reason}`);
  return { server, latency, rows };
}

async function findMongodb(): Promise<MongoDBServer | null> {
  try {
    return await startMongoDB();
  } catch (error) {
    if (!(error instanceof MongoDBUnavailable)) throw error;
    process.stderr.write(`Latchkey on MongoDB is skipped: ${error.message}\n`);
    return null;
  }
}

const mongodb = await findMongodb();

const entries: Entry[] = [
  { server: 'Latchkey on SQLite', start: startOnSqlite },
  ...(mongodb
    ? [
        {
          server: 'Latchkey on MongoDB',
          start: (latency: number) => startOnMongodb(mongodb.url, latency),
        },
      ]
    : []),
  { server: 'oidc-provider', start: startOidcProvider },
  { server: 'better-auth', start: startBetterAuth },
];

const measurements: Measurement[] = [];
for (const entry of entries) {
  for (const latency of latencies) measurements.push(await measure(entry, latency));
}
await mongodb?.stop();

const peers = await packageVersions([
  '@better-auth/oauth-provider',
  'better-auth',
  'oidc-provider',
]);
const date = new Date().toISOString().slice(0, 10);
const databases = mongodb ? ` ${mongodb.description}.` : '';
const conditions = `${date}, Node ${process.versions.node}.${databases} ${peers}.`;
const text = report(measurements, conditions);
process.stdout.write(`\n${text}`);

await writeFile(
  new URL('../results/races.md', import.meta.url),
  `# Races and abuse\n\nWritten by \`npm run bench:races\`. [What is measured, and how each server is set up](../../docs/races.md).\n\n${text}`,
);
const page = new URL('../../docs/races.md', import.meta.url);
const between = /(?<=<!-- results -->\n\n).*(?=\n<!-- end of results -->)/s;
await writeFile(
  page,
  (await readFile(page, 'utf8')).replace(between, () => text),
);
