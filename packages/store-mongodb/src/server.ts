import type { Db, Document } from 'mongodb';
import { ConfigurationError } from './configuration-error.ts';

export interface ServerFacts {
  /** A member of a replica set, or a sharded cluster, which consists of replica sets. */
  replicated: boolean;
  sharded: boolean;
  /** Whether one write can be a fence for all reads. Shards have no common order of writes. */
  fenced: boolean;
}

/** The wire version of MongoDB 7.0, the oldest version that is still maintained. */
const oldestWireVersion = 21;

export async function askServer(database: Db): Promise<ServerFacts> {
  const hello = await database.command({ hello: 1 });
  if (!(hello.maxWireVersion >= oldestWireVersion)) {
    const { version } = await database.command({ buildInfo: 1 });
    throw new ConfigurationError(
      `the server is MongoDB ${version}, and Latchkey needs 7.0 or later: upgrade it`,
    );
  }
  const isOneSet = typeof hello.setName === 'string';
  const sharded = isMongos(hello);
  return { replicated: isOneSet || sharded, sharded, fenced: isOneSet };
}

export const isMongos = (hello: Document): boolean => hello.msg === 'isdbgrid';

/** Decision 79. */
export const NEVER_ON_SHARDS = 'a sharded cluster, on which Latchkey was never tested';
