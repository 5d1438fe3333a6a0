import pino from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { loadSettings } from '../../src/settings.ts';
import { type OpenServer, startServer } from '../../src/start-server.ts';

export interface DemoServer extends OpenServer {
  /** All log lines. */
  lines: string[];
}

/**
 * A server with the settings of a first start.
 *
 * @param databaseUrl - instead of the file that a first start creates
 */
export async function startDemo(
  environment: NodeJS.ProcessEnv = {},
  databaseUrl = 'file::memory:',
): Promise<DemoServer> {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const settings = { ...loadSettings({ PORT: '0', ...environment }), databaseUrl };
  return { ...(await startServer(settings, log)), lines };
}

/** A demo for all tests of a suite. */
export function useDemo(environment?: NodeJS.ProcessEnv): DemoServer {
  const server = {} as DemoServer;
  beforeAll(async () => void Object.assign(server, await startDemo(environment)));
  afterAll(() => server.close());
  return server;
}
