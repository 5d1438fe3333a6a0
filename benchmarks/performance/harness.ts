import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  dropDatabase,
  freshName,
  urlOf,
} from '../../packages/test-kit/src/mongodb/test-databases.ts';
import type { RunningServer, StartOptions } from './contender.ts';
import type { MongodbKind, MongodbServer } from './mongodb-servers.ts';
import { logProgress } from './progress.ts';

/** Starts servers, and gives them folders and databases. */
export interface Harness {
  /** Starts a server, which is stopped at the end. */
  start<S extends RunningServer>(
    name: string,
    begin: (options: StartOptions) => Promise<S>,
  ): Promise<S>;
}

/**
 * Runs something, then stops its servers and removes their folders and databases.
 *
 * @param mongodb - the URL of a MongoDB, if there is one
 * @param nodeArguments - for every server
 */
export async function withHarness<T>(
  mongodb: string | undefined,
  nodeArguments: readonly string[],
  run: (harness: Harness) => Promise<T>,
): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), 'latchkey-bench-'));
  const removeRoot = () => rmSync(root, { recursive: true, force: true });
  process.once('exit', removeRoot);
  const databases: string[] = [];
  const servers: RunningServer[] = [];
  function newMongodbUrl(): string | undefined {
    if (mongodb === undefined) return undefined;
    const name = freshName();
    databases.push(name);
    return urlOf(mongodb, name);
  }
  const harness: Harness = {
    async start(name, begin) {
      logProgress(`Starting ${name} …`);
      const server = await begin({
        folder: await mkdtemp(join(root, 'folder-')),
        nodeArguments,
        databaseUrl: newMongodbUrl(),
      });
      servers.push(server);
      return server;
    },
  };
  try {
    return await run(harness);
  } finally {
    await Promise.all(servers.map(({ process }) => process.stop()));
    for (const name of databases) await dropDatabase(mongodb ?? '', name);
    process.off('exit', removeRoot);
    removeRoot();
  }
}

/** Runs something on a MongoDB, which runs only meanwhile. */
export async function onMongodb<T>(
  { name, start }: MongodbKind,
  run: (harness: Harness, server: MongodbServer) => Promise<T>,
  nodeArguments: readonly string[] = [],
): Promise<T> {
  logProgress(`Starting ${name} …`);
  const server = await start();
  try {
    return await withHarness(server.url, nodeArguments, (harness) => run(harness, server));
  } finally {
    await server.stop();
  }
}
