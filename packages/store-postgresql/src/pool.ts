import type { Timeouts } from '@latchkey/store/server-store';
import type { ConnectionPool } from '@latchkey/store/store';
import { Pool, type PoolClient, types } from 'pg';
import { poolConfigOf } from './address.ts';

const cancelled = new WeakSet<PoolClient>();

/** Whether a commit on it did not wait for its standby. */
export const hasCancelledWait = (client: PoolClient): boolean => cancelled.has(client);

export function createPool(url: string, { connect }: Timeouts, application_name: string): Pool {
  const pool = new Pool({
    ...poolConfigOf(url),
    connectionTimeoutMillis: connect,
    application_name,
    keepAlive: true,
    types: { getTypeParser },
  });
  pool.on('connect', (client) => {
    // A statement that is running fails by itself.
    client.on('error', () => undefined);
    client.on('notice', ({ routine }) => {
      // Its text depends on the language of the server.
      if (routine === 'SyncRepWaitForLSN') cancelled.add(client);
    });
  });
  pool.on('error', () => undefined);
  return pool;
}

export const poolNumbers = (pool: Pool): ConnectionPool => ({
  inUse: pool.totalCount - pool.idleCount,
  idle: pool.idleCount,
  waiting: pool.waitingCount,
  limit: pool.options.max,
});

/** No number of ours is too large for one of JavaScript. */
const getTypeParser = ((type: number, format?: 'text') =>
  type === types.builtins.INT8
    ? Number
    : types.getTypeParser(type, format)) as typeof types.getTypeParser;
