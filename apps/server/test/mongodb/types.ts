export type MongoDBSource = 'TEST_DATABASE_URL' | 'mongod' | 'mongodb-memory-server' | 'ferretdb';

export interface MongoDBServer {
  url: string;
  source: MongoDBSource;
  /** One line for a human: what runs there, and which version of it. */
  description: string;
  /** True when what answers is no MongoDB, but another program that speaks its protocol. */
  isStandIn: boolean;
  stop(): Promise<void>;
  /** Ends the database processes with SIGKILL. The data stays, for `restart`. */
  kill?(): Promise<void>;
  /** The same port and the same data, after an orderly stop or after `kill`. */
  restart?(): Promise<void>;
}

export interface StartOptions {
  /** Where progress goes, line by line. Standard error unless told. */
  log?: (line: string) => void;
  env?: NodeJS.ProcessEnv;
}

/** What a candidate is started with: the options, with everything filled in. */
export interface StartContext {
  log: (line: string) => void;
  env: NodeJS.ProcessEnv;
}

export class MongoDBUnavailable extends Error {
  override readonly name = 'MongoDBUnavailable';
  readonly reasons: ReadonlyMap<MongoDBSource, string>;

  constructor(reasons: ReadonlyMap<MongoDBSource, string>) {
    const lines = [...reasons].map(
      ([source, reason]) => `- ${source}: ${reason.trim().replaceAll('\n', '\n    ')}`,
    );
    super(`No MongoDB for the tests. What was tried, and what came of it:\n${lines.join('\n')}`);
    this.reasons = reasons;
  }
}
