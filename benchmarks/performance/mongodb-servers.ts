import { commandOf } from '../../packages/test-kit/src/mongodb/command-of.ts';
import { findMongod } from '../../packages/test-kit/src/mongodb/find-mongod.ts';
import { ReplicaSet } from '../../packages/test-kit/src/mongodb/replica-set.ts';
import { MongoDBUnavailable } from '../../packages/test-kit/src/mongodb/start.ts';
import { logProgress } from './progress.ts';

/** A MongoDB that runs. */
export interface MongodbServer {
  url: string;
  /** With the version. */
  description: string;
  /** Of its processes; empty if they are elsewhere. */
  pids: number[];
  stop(): Promise<void>;
}

/** A MongoDB that servers are measured on. It runs only while they are. */
export interface MongodbKind {
  /** Such as "MongoDB, three members". */
  name: string;
  start(): Promise<MongodbServer>;
}

/** The largest cache of one `mongod`. That of the tests is smaller than a user's. */
const CACHE = '4G';
/** Milliseconds between writes to the journal, as MongoDB has it. The tests use a shorter one. */
const JOURNAL_INTERVAL = 100;

/**
 * A replica set of one node and one of three, with MongoDB's own settings; or the server of a URL
 * alone. None, if there is no `mongod`.
 */
export async function mongodbKinds(url: string | undefined): Promise<MongodbKind[]> {
  if (url !== undefined) return [{ name: 'MongoDB of --mongodb', start: () => connect(url) }];
  try {
    const mongod = await findMongod({ log: logProgress });
    const kind = (name: string, members: 1 | 3): MongodbKind => ({
      name,
      async start() {
        const set = await ReplicaSet.start(mongod, { members });
        const pids: number[] = [];
        for (const member of set.members) {
          await member.command({ setParameter: 1, journalCommitInterval: JOURNAL_INTERVAL });
          const wiredTigerEngineRuntimeConfig = `cache_size=${CACHE}`;
          await member.command({ setParameter: 1, wiredTigerEngineRuntimeConfig });
          pids.push(Number((await member.command({ serverStatus: 1 })).pid));
        }
        return { url: set.url, description: set.description, pids, stop: () => set.stop() };
      },
    });
    return [kind('MongoDB, one member', 1), kind('MongoDB, three members', 3)];
  } catch (error) {
    if (!(error instanceof MongoDBUnavailable)) throw error;
    logProgress(`${error.message}\nNothing is measured on MongoDB.`);
    return [];
  }
}

async function connect(url: string): Promise<MongodbServer> {
  const { version } = await commandOf(url, { buildInfo: 1 });
  return { url, description: `MongoDB ${version}`, pids: [], stop: async () => undefined };
}
