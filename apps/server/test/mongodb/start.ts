import { startFerretDB } from './ferretdb.ts';
import { useGivenUrl } from './given-url.ts';
import { startMemoryServer } from './memory-server.ts';
import { startMongodOnPath } from './mongod.ts';
import { reasonOf } from './text.ts';
import {
  type MongoDBServer,
  type MongoDBSource,
  MongoDBUnavailable,
  type StartContext,
  type StartOptions,
} from './types.ts';

export { type MongoDBServer, type MongoDBSource, MongoDBUnavailable } from './types.ts';

interface Candidate {
  source: MongoDBSource;
  /** What `TEST_MONGODB` calls it. */
  name: string;
  start(context: StartContext): Promise<MongoDBServer>;
}

/** From what a person asked for, over the real thing, to what only speaks like it. */
const candidates: Candidate[] = [
  { source: 'TEST_DATABASE_URL', name: 'url', start: useGivenUrl },
  { source: 'mongod', name: 'mongod', start: startMongodOnPath },
  { source: 'mongodb-memory-server', name: 'memory-server', start: startMemoryServer },
  { source: 'ferretdb', name: 'ferretdb', start: startFerretDB },
];

export async function startMongoDB(options: StartOptions = {}): Promise<MongoDBServer> {
  const context: StartContext = {
    log: options.log ?? ((line) => process.stderr.write(`${line}\n`)),
    env: options.env ?? process.env,
  };
  const reasons = new Map<MongoDBSource, string>();
  for (const candidate of chosen(context.env)) {
    try {
      const server = await candidate.start(context);
      context.log(`MongoDB for the tests: ${server.description}`);
      return server;
    } catch (error) {
      reasons.set(candidate.source, reasonOf(error));
    }
  }
  throw new MongoDBUnavailable(reasons);
}

function chosen(env: NodeJS.ProcessEnv): Candidate[] {
  const wanted = env.TEST_MONGODB;
  if (wanted) {
    const found = candidates.filter(({ name }) => name === wanted);
    if (found.length > 0) return found;
    const names = candidates.map(({ name }) => name).join(', ');
    throw new Error(`TEST_MONGODB is '${wanted}'; it can be one of: ${names}`);
  }
  // An address that was given on purpose and does not answer is an error, not a reason to go on
  // against another database.
  return env.TEST_DATABASE_URL ? candidates.slice(0, 1) : candidates;
}
