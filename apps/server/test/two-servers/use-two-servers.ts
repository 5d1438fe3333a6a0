import { afterAll, beforeAll } from 'vitest';
import type { FreshDatabase } from '../http/databases.ts';
import { ServerProcess } from '../http/served-process.ts';

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
    const options = { environment: { LOG_LEVEL: 'warn', ...environment } };
    const start = () => ServerProcess.start(database.url, options);
    servers.push(...(await Promise.all([start(), start()])));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await remove();
  });
  return servers;
}
