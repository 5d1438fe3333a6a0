/** The sources of a `mongod`, in the order in which they are tried. */
export type MongodSource = 'mongod' | 'memory-server' | 'wheel';

/** A `mongod` that runs on this machine. */
export interface Mongod {
  path: string;
  source: MongodSource;
  /** As in `6.0.5`. */
  version: string;
}

/** A MongoDB that the driver can connect to. */
export interface MongoDBServer {
  url: string;
  /** One line for a person: what it is, and where it came from. */
  description: string;
  stop(): Promise<void>;
}

export interface SearchOptions {
  /** Receives progress, line by line. Standard error by default. */
  log?: (line: string) => void;
  env?: NodeJS.ProcessEnv;
}

export class MongoDBUnavailable extends Error {
  override readonly name = 'MongoDBUnavailable';

  constructor(reasons: ReadonlyMap<MongodSource, string>) {
    const lines = [...reasons].map(
      ([source, reason]) => `- ${source}: ${reason.trim().replaceAll('\n', '\n    ')}`,
    );
    super(`No MongoDB for the tests. Any one of these would do:\n${lines.join('\n')}`);
  }
}
