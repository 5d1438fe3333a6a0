import { afterAll, beforeAll } from 'vitest';
import type { FreshDatabase } from '../http/databases.ts';
import { ServerProcess } from './server-process.ts';

/** Two server processes on one database, for all tests of a suite. Only the tests may use them. */
export function useTwoServers(
  fresh: FreshDatabase,
  environment: NodeJS.ProcessEnv = {},
): [ServerProcess, ServerProcess] {
  const servers = [] as unknown as [ServerProcess, ServerProcess];
  let remove: () => Promise<void>;
  beforeAll(async () => {
    const database = await fresh();
    remove = database.remove;
    servers.push(
      ...(await Promise.all([
        ServerProcess.start(database.url, { environment }),
        ServerProcess.start(database.url, { environment }),
      ])),
    );
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await remove();
  });
  return servers;
}
