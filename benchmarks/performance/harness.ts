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
import type { MongodbKind } from './mongodb-servers.ts';
import { logProgress } from './progress.ts';

/** Starts servers, and gives them folders and databases. */
export interface Harness {
  /** Creates an empty folder. */
  newFolder(): Promise<string>;
  /** The URL of an empty database on the MongoDB; undefined if there is none. */
  newMongodbUrl(): string | undefined;
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
  const newFolder = () => mkdtemp(join(root, 'folder-'));
  const harness: Harness = {
    newFolder,
    newMongodbUrl() {
      if (mongodb === undefined) return undefined;
      const name = freshName();
      databases.push(name);
      return urlOf(mongodb, name);
    },
    async start(name, begin) {
      logProgress(`Starting ${name} …`);
      const server = await begin({
        folder: await newFolder(),
        nodeArguments,
        mongodbUrl: harness.newMongodbUrl(),
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

/** A kind of database that Latchkey runs on. */
export interface StoreKind {
  name: string;
  /** The URL of an empty database. */
  newUrl(): Promise<string>;
  /** The fraction of the requests that it gets. Slow ones get fewer, so that a round ends. */
  share: number;
}

/**
 * Runs something on SQLite, then on each MongoDB, which runs only meanwhile.
 *
 * @returns the MongoDB servers with their versions, for the conditions of a page
 */
export async function onEachStore(
  mongodbs: readonly MongodbKind[],
  run: (harness: Harness, store: StoreKind) => Promise<void>,
): Promise<string[]> {
  await withHarness(undefined, [], (harness) =>
    run(harness, {
      name: 'SQLite',
      newUrl: async () => `file:${join(await harness.newFolder(), 'latchkey.db')}`,
      share: 1,
    }),
  );
  const descriptions: string[] = [];
  for (const kind of mongodbs) {
    await onMongodb(kind, (harness, description) => {
      descriptions.push(description);
      const newUrl = async () => harness.newMongodbUrl() ?? '';
      return run(harness, { name: kind.name, newUrl, share: 0.2 });
    });
  }
  return descriptions;
}

/** Runs something on a MongoDB, which runs only meanwhile. */
export async function onMongodb<T>(
  { name, start }: MongodbKind,
  run: (harness: Harness, description: string) => Promise<T>,
  nodeArguments: readonly string[] = [],
): Promise<T> {
  logProgress(`Starting ${name} …`);
  const server = await start();
  try {
    return await withHarness(server.url, nodeArguments, (harness) =>
      run(harness, server.description),
    );
  } finally {
    await server.stop();
  }
}
