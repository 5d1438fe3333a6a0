import pino from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { redactor } from '../../src/log.ts';
import type { Service } from '../../src/service.ts';
import { loadSettings } from '../../src/settings.ts';
import { startServer } from '../../src/start-server.ts';
import type { FreshDatabase, TestDatabase } from './databases.ts';

/** For the operator's routes. Made of what JSON escapes, and of nothing that a pattern finds. */
export const ADMIN_SECRET = 'operator"of\\the<tests>&a-few-more-letters';
export const operator = `Bearer ${ADMIN_SECRET}`;

/** A server in this process, with a clock that stands until it is moved. */
export interface TestServer {
  url: string;
  service: Service;
  /** Everything it logged, from `trace` on, before anything is redacted. */
  lines: string[];
  now(): number;
  /** Moves the clock on, by milliseconds. */
  advance(milliseconds: number): void;
  close(): Promise<void>;
}

export async function startTestServer(
  databaseUrl: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<TestServer> {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const settings = loadSettings({
    PORT: '0',
    DATABASE_URL: databaseUrl,
    ADMIN_SECRET,
    RATE_LIMIT: 'off',
    ...environment,
  });
  let now = Date.now();
  const { url, service, close } = await startServer(settings, log, { clock: () => now });
  return {
    url,
    service,
    lines,
    now: () => now,
    advance(milliseconds) {
      now += milliseconds;
    },
    close,
  };
}

export type ServerWithDatabase = TestServer & { database: TestDatabase };

/** A server for all tests of a suite, on a database of their own. It can be used within the tests. */
export function useServer(
  fresh: FreshDatabase,
  environment?: NodeJS.ProcessEnv,
): ServerWithDatabase {
  const server = {} as ServerWithDatabase;
  beforeAll(async () => {
    const database = await fresh();
    Object.assign(server, await startTestServer(database.url, environment), { database });
  });
  afterAll(async () => {
    await server.close();
    await server.database.remove();
  });
  return server;
}

/** What the service's own log makes of a line. */
export const redact = redactor([ADMIN_SECRET]);
