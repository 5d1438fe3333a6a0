import { redactorFor } from '@latchkey/rules/log/redactor';
import type { Service } from '@latchkey/rules/service';
import pino from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { loadSettings } from '../../src/settings.ts';
import { startServer, type TestOptions } from '../../src/start-server.ts';
import type { FreshDatabase, TestDatabase } from './databases.ts';

/** Contains characters that JSON escapes. Does not match the pattern of other credentials. */
export const ADMIN_SECRET = 'operator"of\\the<tests>&a-few-more-letters';
export const operator = `Bearer ${ADMIN_SECRET}`;

/** Turns events on, and lets messages to this machine. */
export const EVENTS = {
  EVENTS_KEY: 'an-events-key-of-at-least-thirty-two-characters',
  OUTBOUND_ALLOW: 'private,http',
};

/** A server in this process with a clock that the test moves. */
export interface TestServer {
  url: string;
  /** Of ADMIN_PORT; null if it is not set. */
  adminUrl: string | null;
  service: Service;
  /** All log lines from level `trace`, before redaction. */
  lines: string[];
  now(): number;
  /** Moves the clock forward, in milliseconds. */
  advance(milliseconds: number): void;
  close(options?: { drain?: boolean }): Promise<void>;
}

export async function startTestServer(
  databaseUrl: string,
  environment: NodeJS.ProcessEnv = {},
  options: Pick<TestOptions, 'evenIfCopied' | 'resolve' | 'work'> = {},
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
  const { url, adminUrl, service, close } = await startServer(settings, log, {
    clock: () => now,
    monotonic: () => now,
    ...options,
  });
  return {
    url,
    adminUrl,
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

/** A server for all tests of a suite, on its own database. Only the tests may use it. */
export function useServer(
  fresh: FreshDatabase,
  environment?: NodeJS.ProcessEnv,
  options?: Pick<TestOptions, 'resolve' | 'work'>,
): ServerWithDatabase {
  const server = {} as ServerWithDatabase;
  beforeAll(async () => {
    const database = await fresh();
    Object.assign(server, await startTestServer(database.url, environment, options), { database });
  });
  afterAll(async () => {
    await server.close();
    await server.database.remove();
  });
  return server;
}

/** Redacts a line as the log of the service does. */
export const redact = redactorFor(new Set([ADMIN_SECRET]));
