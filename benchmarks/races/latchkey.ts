import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings, openLog, startServer } from '../../apps/server/src/testing.ts';
import { latchkeyServer } from '../../packages/test-kit/src/races/latchkey.ts';
import { withLatency } from '../../packages/test-kit/src/races/latency.ts';
import type { Databases } from '../peers/databases.ts';
import { type Contender, measureServer } from './contender.ts';

/** Latchkey as `latchkey serve` starts it. */
async function start(databaseUrl: string, latency: number): Promise<Omit<Contender, 'versions'>> {
  const adminSecret = randomBytes(32).toString('hex');
  const settings = loadSettings({
    PORT: '0',
    DATABASE_URL: databaseUrl,
    ADMIN_SECRET: adminSecret,
    LOG_LEVEL: 'silent',
    // All calls of a race come from one address and one application.
    RATE_LIMIT: 'off',
  });
  const { log, close: closeLog } = openLog(settings);
  const server = await startServer(settings, log);
  // Before the first request: each request takes the store from the service.
  server.service.store = withLatency(server.service.store, latency);
  const latchkey = await latchkeyServer(server.url, adminSecret);
  return {
    measure: (ids) => measureServer(latchkey, ids),
    async close() {
      await server.close();
      await closeLog();
    },
  };
}

/** @param latency - in milliseconds, for each call of the store */
export async function startLatchkeyOnSqlite(latency: number): Promise<Contender> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-races-'));
  const contender = await start(`file:${join(folder, 'latchkey.db')}`, latency);
  return {
    ...contender,
    versions: `this repository, SQLite ${process.versions.sqlite}`,
    async close() {
      await contender.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** @param latency - in milliseconds, for each call of the store */
export async function startLatchkeyOnMongodb(
  databases: Databases,
  latency: number,
): Promise<Contender> {
  const database = await databases.mongodb();
  const contender = await start(database.url, latency);
  return {
    ...contender,
    versions: `this repository, ${database.description}`,
    async close() {
      await contender.close();
      await database.drop();
    },
  };
}

/** @param latency - in milliseconds, for each call of the store */
export async function startLatchkeyOnPostgresql(
  databases: Databases,
  latency: number,
): Promise<Contender> {
  const { url, description } = await databases.postgresql();
  return { ...(await start(url, latency)), versions: `this repository, ${description}` };
}
