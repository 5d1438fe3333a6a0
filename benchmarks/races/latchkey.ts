import { randomBytes } from 'node:crypto';
import { createLog, loadSettings, startServer } from '../../apps/server/src/index.ts';
import { latchkeyServer } from '../../packages/test-kit/src/races/latchkey.ts';
import { withLatency } from '../../packages/test-kit/src/races/latency.ts';
import { type Contender, measureServer } from './contender.ts';

/** Latchkey as `latchkey serve` starts it. */
export async function startLatchkey(databaseUrl: string, latency: number): Promise<Contender> {
  const adminSecret = randomBytes(32).toString('hex');
  const settings = loadSettings({
    PORT: '0',
    DATABASE_URL: databaseUrl,
    ADMIN_SECRET: adminSecret,
    LOG_LEVEL: 'silent',
    // All calls of a race come from one address and one application.
    RATE_LIMIT: 'off',
  });
  const { log, close: closeLog } = createLog(settings);
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
