import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FullGrant } from '@latchkey/schema';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeOnEachStore, type TestDatabase } from '../http/databases.ts';
import { asBearer, type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { ADMIN_SECRET, operator } from '../http/running-server.ts';
import { longer } from '../long.ts';
import { installSchemathesis } from './schemathesis/install.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';

const config = fileURLToPath(new URL('./schemathesis/schemathesis.toml', import.meta.url));

// As with MongoDB: in CI it is a failure that there is none, since nobody would notice.
const python = await installSchemathesis(process.env).catch((error: Error) => {
  if (process.env.CI) throw error;
  process.stderr.write(`The fuzz by the OpenAPI document is not run: ${error.message}\n`);
  return null;
});

/** What one run of schemathesis sends. */
interface Run {
  /** The value of the Authorization header everywhere; undefined for each credential in its place. */
  authorization?: string;
  phases: string;
  /** Of the fuzzing and the stateful phase, for each operation. */
  examples: number;
}

// All checks hold but these: JSON Schema can't say that scope tokens are distinct, or that exactly
// one of two members is given, so that what fits the schema may be refused; and there are no two
// users whose objects could be mixed up, which other tests try. Among the checks: no 5xx, no status,
// header, type or body but the documented ones, nothing taken that the schema refuses, and each
// request once more without its credential and with a wrong one, which have to be refused.
const EXCLUDED = 'positive_data_acceptance,object_level_authorization';

const TIMEOUT = longer(120_000, 3_600_000);

describeOnEachStore('the HTTP surface, fuzzed by its own OpenAPI document,', (fresh) => {
  let database: TestDatabase;
  let server: ServerProcess;
  let linked: LinkedApplication;
  let grant: FullGrant;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'latchkey-schemathesis-'));
    database = await fresh();
    server = await startServerProcess(database.url);
    linked = await linkedApplication(server);
    grant = await linked.link();
  }, 60_000);
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    await database.remove();
    await rm(directory, { recursive: true });
  });

  /** Runs schemathesis to its end, and fails with all that it said. */
  async function fuzz({ authorization, phases, examples }: Run): Promise<void> {
    const words = [
      ...['-m', 'schemathesis.cli', '--config-file', config, '--no-color'],
      ...['run', `${server.url}/openapi.json`, '--phases', phases, '-n', String(examples)],
      ...['--checks', 'all', '--exclude-checks', EXCLUDED],
      ...['--request-timeout', '15', '--continue-on-failure', '--warnings', 'off'],
      ...['--generation-database', 'none'],
      ...(authorization === undefined ? [] : ['--header', `Authorization: ${authorization}`]),
    ];
    const env = {
      PATH: process.env.PATH,
      PYTHONUTF8: '1',
      APPLICATION_SECRET: linked.secret,
      GRANT_ID: grant.grant_id,
      GRANT_SECRET: grant.grant_secret,
      ADMIN_SECRET,
    };
    const child = spawn(python ?? 'python3', words, { env, cwd: directory });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code, said).toBe(0);
    // Else it has shown nothing.
    expect(said).toMatch(/Tested: 18\b/);
    expect(said).toMatch(/[1-9]\d* generated/);
    // A fuzz is a flood: that not all of its refusals are kept is right.
    const usual = /^(request|audit|listening|too many refusals .*)$/;
    expect(server.log().filter(({ msg }) => !usual.test(msg))).toEqual([]);
  }

  const skipped = python === null;
  const options = { timeout: TIMEOUT };

  test.skipIf(skipped)('answers as documented to each credential in its place', options, () =>
    fuzz({ phases: 'examples,coverage,fuzzing,stateful', examples: longer(3, 200) }),
  );

  test.skipIf(skipped).each([
    ['an application everywhere', () => linked.bearer],
    ['a grant everywhere', () => asBearer(grant)],
    ['the operator everywhere', () => operator],
  ])('answers as documented to %s', options, (_, authorization) =>
    fuzz({ authorization: authorization(), phases: 'fuzzing', examples: longer(1, 60) }),
  );
});
