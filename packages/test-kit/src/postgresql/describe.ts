import { describe, inject, type TestOptions, test } from 'vitest';
// Declares the type of `inject`.
import type {} from '../global-setup.ts';
import { runsAll, slow } from '../long.ts';
import { urlFrom } from '../on-request.ts';
import { hasPooler } from './pooler.ts';
import type { PostgresqlPrograms } from './types.ts';

/** Runs a suite on the PostgreSQL of the tests, if there is one; it gets the URL of the server. */
export function describeOnPostgresql(
  title: string,
  suite: (server: string) => void,
  options: TestOptions = {},
): void {
  const server = inject('postgresqlUrl');
  if (server) describe(`${title} on PostgreSQL`, options, () => suite(server));
  else describe.skip(`${title} on PostgreSQL (not run: there is none)`, isTheSame);
}

/**
 * Runs a suite on the PostgreSQL of the tests; if slow tests run, also on the newest version, with a synchronous
 * standby and behind a pooler.
 */
export function describeOnEachPostgresql(title: string, suite: (server: string) => void): void {
  describeOnPostgresql(title, suite);
  const request = inject('newestPostgresqlUrl');
  const newest = `${title} on the newest PostgreSQL, with a synchronous standby${pooler}`;
  if (request === undefined) describe.skip(`${newest} (not run: ${whyNoOther()})`, isTheSame);
  else {
    describe(newest, slow, async () => {
      // All suites share it. It starts with the first request.
      if (runsAll) suite(await urlFrom(request));
      else isTheSame();
    });
  }
}

/** Runs a suite that starts servers of its own, to harm them. */
export function describeWithPostgresql(
  title: string,
  suite: (programs: PostgresqlPrograms) => void,
): void {
  const programs = inject('postgresql');
  if (programs) describe(`${title} on PostgreSQL`, () => suite(programs));
  else describe.skip(`${title} on PostgreSQL (not run: ${whyNoOther()})`, isTheSame);
}

const noPooler = '(apt-get install pgbouncer)';
const pooler = hasPooler ? ', behind a pooler' : `; behind no pooler, as there is none ${noPooler}`;

/** Runs a suite that starts a pooler in front of the PostgreSQL of the tests; it gets the URL of the server. */
export function describeWithPooler(title: string, suite: (server: string) => void): void {
  if (hasPooler) describeOnPostgresql(title, suite);
  else describe.skip(`${title} (not run: there is no pooler ${noPooler})`, isTheSame);
}

const isTheSame = () => test('is the same', () => undefined);

function whyNoOther(): string {
  if (inject('postgresql')) return 'there is none for this platform';
  return inject('postgresqlUrl') ? 'the one of TEST_DATABASE_URL is not ours' : 'there is none';
}
