import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandOf } from '../../packages/test-kit/src/mongodb/command-of.ts';
import {
  dropDatabase,
  freshName,
  urlOf,
} from '../../packages/test-kit/src/mongodb/test-databases.ts';
import type { RunningServer, StartOptions } from './contender.ts';

export const logProgress = (text: string) => void process.stderr.write(`${text}\n`);

/** Starts servers, and gives them folders and databases. */
export interface Harness {
  /** The URL of a MongoDB; undefined if there is none. */
  mongodb: string | undefined;
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
    mongodb,
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
  /** The name and version of a database server. */
  version?: string;
  /** The URL of an empty database. */
  newUrl(): Promise<string>;
  /** The fraction of the requests that it gets. Slow ones get fewer, so that a round ends. */
  share: number;
}

/** SQLite, and MongoDB if there is one. */
export async function storeKinds(harness: Harness): Promise<StoreKind[]> {
  const sqlite: StoreKind = {
    name: 'SQLite',
    newUrl: async () => `file:${join(await harness.newFolder(), 'latchkey.db')}`,
    share: 1,
  };
  if (harness.mongodb === undefined) return [sqlite];
  const { version } = await commandOf(harness.mongodb, { buildInfo: 1 });
  const mongodb: StoreKind = {
    name: 'MongoDB',
    version: `MongoDB ${version}`,
    newUrl: async () => harness.newMongodbUrl() ?? '',
    share: 0.2,
  };
  return [sqlite, mongodb];
}

/** The database servers of a run, for the conditions of its page. */
export const versionsOf = (stores: readonly StoreKind[]): string[] =>
  stores.flatMap(({ version = [] }) => version);
