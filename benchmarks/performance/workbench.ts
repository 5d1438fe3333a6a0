import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  dropDatabase,
  freshName,
  urlOf,
} from '../../apps/server/src/store/mongodb/mongo-harness.ts';
import type { Place, Running } from './contender.ts';

/** Tells the one who waits how far it is. */
export const note = (text: string) => void process.stderr.write(`${text}\n`);

/** Where servers are started, each in a folder of its own. */
export interface Workbench {
  /** The URL of a MongoDB; undefined where there is none. */
  mongodb: string | undefined;
  /** An empty folder. */
  folder(): Promise<string>;
  /** The URL of an empty database on it; undefined where there is no MongoDB. */
  mongodbUrl(): string | undefined;
  /** Starts a server. It is stopped at the end. */
  start<R extends Running>(name: string, begin: (place: Place) => Promise<R>): Promise<R>;
}

/**
 * Runs something, and removes all that it used: its servers, their folders, and their databases.
 *
 * @param mongodb - a MongoDB, where there is one
 * @param nodeArguments - of every server
 */
export async function withWorkbench<T>(
  mongodb: string | undefined,
  nodeArguments: readonly string[],
  run: (workbench: Workbench) => Promise<T>,
): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), 'latchkey-bench-'));
  const removeRoot = () => rmSync(root, { recursive: true, force: true });
  process.once('exit', removeRoot);
  const databases: string[] = [];
  const servers: Running[] = [];
  const folder = () => mkdtemp(join(root, 'folder-'));
  const workbench: Workbench = {
    mongodb,
    folder,
    mongodbUrl() {
      if (mongodb === undefined) return undefined;
      const name = freshName();
      databases.push(name);
      return urlOf(mongodb, name);
    },
    async start(name, begin) {
      note(`Starting ${name} …`);
      const running = await begin({
        folder: await folder(),
        nodeArguments,
        mongodbUrl: workbench.mongodbUrl(),
      });
      servers.push(running);
      return running;
    },
  };
  try {
    return await run(workbench);
  } finally {
    await Promise.all(servers.map(({ server }) => server.stop()));
    for (const name of databases) await dropDatabase(mongodb ?? '', name);
    process.off('exit', removeRoot);
    removeRoot();
  }
}
