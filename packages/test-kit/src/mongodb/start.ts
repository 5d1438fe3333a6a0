import { givenUrl } from '../given-url.ts';
import { commandOf } from './command-of.ts';
import { findMongod, printLine } from './find-mongod.ts';
import { ReplicaSet } from './replica-set.ts';
import type { MongoDBServer, Mongod, SearchOptions } from './types.ts';

export { type MongoDBServer, MongoDBUnavailable } from './types.ts';

/** The MongoDB of a test run. */
export interface TestMongoDB extends MongoDBServer {
  /** Starts more of them; undefined if `TEST_DATABASE_URL` names the server. */
  mongod: Mongod | undefined;
}

/**
 * Connects to the server of `TEST_DATABASE_URL`, if it is a MongoDB, or starts a replica set of one node.
 *
 * @throws Error if `TEST_DATABASE_URL` is set and no MongoDB responds there: no other is tried
 * @throws MongoDBUnavailable if there is no `mongod` to start
 */
export async function startMongoDB(options: SearchOptions = {}): Promise<TestMongoDB> {
  const { log = printLine, env = process.env } = options;
  const given = givenUrl('mongodb', env);
  const server = given ? await givenServer(given) : await ownServer(options);
  log(`MongoDB for the tests: ${server.description}`);
  return server;
}

async function givenServer(url: string): Promise<TestMongoDB> {
  const { version } = await commandOf(url, { buildInfo: 1 }).catch(() => {
    throw new Error('No MongoDB answers at TEST_DATABASE_URL. Start it, or unset the variable.');
  });
  const description = `MongoDB ${version} at TEST_DATABASE_URL`;
  return { url, description, mongod: undefined, stop: async () => undefined };
}

async function ownServer(options: SearchOptions): Promise<TestMongoDB> {
  const mongod = await findMongod(options);
  const set = await ReplicaSet.start(mongod, { members: 1 });
  return { url: set.url, description: set.description, mongod, stop: () => set.stop() };
}
