import type { TestProject } from 'vitest/node';
import { ReplicaSet } from './mongodb/replica-set.ts';
import { startMongoDB, type TestMongoDB } from './mongodb/start.ts';
import type { Mongod } from './mongodb/types.ts';
import { type OnRequest, startOnRequest } from './on-request.ts';
import { hasNewest, newestPrograms } from './postgresql/find-programs.ts';
import { behindPooler, hasPooler } from './postgresql/pooler.ts';
import { Replication } from './postgresql/replication.ts';
import { startPostgresql, type TestPostgresql } from './postgresql/start.ts';
import type { PostgresqlPrograms } from './postgresql/types.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A MongoDB for the tests; undefined if there is none. */
    mongodbUrl: string | undefined;
    /** For tests that start a MongoDB of their own; undefined if none can be started. */
    mongod: Mongod | undefined;
    /** Starts a replica set of three at the first request, and responds with its URL. */
    threeMembersUrl: string | undefined;
    /** A PostgreSQL for the tests; undefined if there is none. */
    postgresqlUrl: string | undefined;
    /** For tests that start a PostgreSQL of their own; undefined if none can be started. */
    postgresql: PostgresqlPrograms | undefined;
    /**
     * Starts the newest PostgreSQL with a synchronous standby at the first request, behind a pooler if there is one, and
     * responds with its URL.
     */
    newestPostgresqlUrl: string | undefined;
  }
}

/** Shared by all projects of a run. */
interface Shared {
  projects: number;
  mongodb: Promise<TestMongoDB | undefined>;
  threeMembers: Promise<OnRequest | undefined>;
  postgresql: Promise<TestPostgresql | undefined>;
  newestPostgresql: Promise<OnRequest | undefined>;
}

// Every project loads this file anew, in one process.
const shared = globalThis as { [key: symbol]: Shared | undefined };
const key = Symbol.for('@latchkey/test-kit/servers');

/** Gives the tests of a project their databases: one of a kind for all projects of a run, until the last is done. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const servers = shared[key] ?? startShared();
  shared[key] = servers;
  servers.projects += 1;
  const [mongodb, threeMembers, postgresql, newestPostgresql] = await Promise.all([
    servers.mongodb,
    servers.threeMembers,
    servers.postgresql,
    servers.newestPostgresql,
  ]);
  provide('mongodbUrl', mongodb?.url);
  provide('mongod', mongodb?.mongod);
  provide('threeMembersUrl', threeMembers?.url);
  provide('postgresqlUrl', postgresql?.url);
  provide('postgresql', postgresql?.programs);
  provide('newestPostgresqlUrl', newestPostgresql?.url);
  return async () => {
    servers.projects -= 1;
    if (servers.projects > 0) return;
    shared[key] = undefined;
    await Promise.all(
      [mongodb, threeMembers, postgresql, newestPostgresql].map((server) => server?.stop()),
    );
  };
}

function startShared(): Shared {
  const mongodb = startUnlessOptional('MongoDB', process.env.REQUIRE_MONGODB, startMongoDB);
  const postgresql = startUnlessOptional(
    'PostgreSQL',
    process.env.REQUIRE_POSTGRESQL,
    startPostgresql,
  );
  return {
    ...{ projects: 0, mongodb, postgresql },
    threeMembers: mongodb.then((server) => {
      const mongod = server?.mongod;
      return (
        mongod && startOnRequest(() => ReplicaSet.start(mongod, { members: 3, isHarmed: false }))
      );
    }),
    newestPostgresql: postgresql.then((server) =>
      server?.programs && hasNewest
        ? startOnRequest(async () => {
            const set = await Replication.start(await newestPrograms(), { standbys: 1 });
            return hasPooler ? behindPooler(set) : set;
          })
        : undefined,
    ),
  };
}

/** Without its database, a part of the service is not tested. In CI, nobody would notice. */
async function startUnlessOptional<T>(
  name: string,
  required: string | undefined,
  start: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await start();
  } catch (error) {
    if (process.env.CI || required === '1') throw error;
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`The ${name} suites are not run. ${reason}\n`);
    return undefined;
  }
}
