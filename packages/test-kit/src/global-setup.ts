import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { ReplicaSet } from './mongodb/replica-set.ts';
import { startMongoDB, type TestMongoDB } from './mongodb/start.ts';
import type { Mongod } from './mongodb/types.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A MongoDB for the tests; undefined if there is none. */
    mongodbUrl: string | undefined;
    /** For tests that start a MongoDB of their own; undefined if none can be started. */
    mongod: Mongod | undefined;
    /** Starts a replica set of three at the first request, and responds with its URL. */
    threeMembersUrl: string | undefined;
  }
}

/** Shared by all projects of a run. */
interface Shared {
  projects: number;
  mongodb: Promise<TestMongoDB | undefined>;
  threeMembers: Promise<ThreeMembers | undefined>;
}

/** A replica set that starts only if a test asks for it. */
interface ThreeMembers {
  url: string;
  stop(): Promise<void>;
}

// Every project loads this file anew, in one process.
const shared = globalThis as { [key: symbol]: Shared | undefined };
const key = Symbol.for('@latchkey/test-kit/mongodb');

/** Gives the tests of a project a MongoDB: one for all projects of a run, until the last is done. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const servers = shared[key] ?? startShared();
  shared[key] = servers;
  servers.projects += 1;
  const [mongodb, threeMembers] = await Promise.all([servers.mongodb, servers.threeMembers]);
  provide('mongodbUrl', mongodb?.url);
  provide('mongod', mongodb?.mongod);
  provide('threeMembersUrl', threeMembers?.url);
  return async () => {
    servers.projects -= 1;
    if (servers.projects > 0) return;
    shared[key] = undefined;
    await Promise.all([mongodb?.stop(), threeMembers?.stop()]);
  };
}

function startShared(): Shared {
  const mongodb = startUnlessOptional();
  const threeMembers = mongodb.then((server) => server?.mongod && threeOnRequest(server.mongod));
  return { projects: 0, mongodb, threeMembers };
}

/** Without a MongoDB, half of the service is not tested. In CI, nobody would notice. */
const required = Boolean(process.env.CI) || process.env.REQUIRE_MONGODB === '1';

async function startUnlessOptional(): Promise<TestMongoDB | undefined> {
  try {
    return await startMongoDB();
  } catch (error) {
    if (required) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`The MongoDB suites are not run. ${reason}\n`);
    return undefined;
  }
}

async function threeOnRequest(mongod: Mongod): Promise<ThreeMembers> {
  let set: Promise<ReplicaSet> | undefined;
  const server: Server = createServer((_, response) => {
    set ??= ReplicaSet.start(mongod, { members: 3, isHarmed: false });
    set.then(
      ({ url }) => response.end(url),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await set?.then(
        (started) => started.stop(),
        () => undefined,
      );
    },
  };
}
