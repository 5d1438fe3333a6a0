import type { TestProject } from 'vitest/node';
import { type MongoDBServer, startMongoDB } from './mongodb/start.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A MongoDB for the tests; undefined where none could be had. */
    mongodbUrl: string | undefined;
    /** Whether it is not MongoDB itself but something that speaks its protocol. */
    mongodbIsStandIn: boolean;
  }
}

/** Whether it is a failure that there is no MongoDB: nobody would notice that half was not tested. */
const required = Boolean(process.env.CI) || process.env.REQUIRE_MONGODB === '1';

/** Gets a MongoDB for all the tests that need one, and lets go of it after them. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  let server: MongoDBServer | undefined;
  try {
    server = await startMongoDB();
  } catch (error) {
    if (required) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`The MongoDB suites are not run: ${reason}\n`);
  }
  provide('mongodbUrl', server?.url);
  provide('mongodbIsStandIn', server?.isStandIn ?? false);
  return async () => server?.stop();
}
