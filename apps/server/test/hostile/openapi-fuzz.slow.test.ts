import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FullGrant } from '@latchkey/schema';
import { isLong, longer } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Json, send } from '../http/call.ts';
import { describeOnEachStore, sqliteDatabase, type TestDatabase } from '../http/databases.ts';
import { asBearer, type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { ADMIN_SECRET, operator } from '../http/running-server.ts';
import { ServerProcess } from '../http/served-process.ts';
import { installSchemathesis } from './schemathesis/install.ts';

const folder = fileURLToPath(new URL('./schemathesis', import.meta.url));
const config = join(folder, 'schemathesis.toml');

// A ping waits for the address of an endpoint, up to 18 s. `test/events` has it.
const LEFT_OUT = /\/ping$/;

// In CI, a missing schemathesis is a failure: nobody would notice that the tests are skipped.
const python = await installSchemathesis(process.env).catch((error: Error) => {
  if (process.env.CI) throw error;
  process.stderr.write(`The fuzzing by the OpenAPI document is skipped: ${error.message}\n`);
  return null;
});

interface Run {
  /** The Authorization header of every request. Undefined: the right credential for each operation. */
  authorization?: string;
  phases: string;
  /** The number of requests per operation in the fuzzing and stateful phases. */
  examples: number;
}

// Two checks can't hold. JSON Schema can't express that scope tokens are distinct, or that exactly one
// of two members is given, so valid data may be refused. And there are no two users whose objects
// could be confused; other tests cover that. The other checks find: a 5xx, an undocumented status,
// header, type or body, data that the schema forbids but the service accepts, and a request that
// is accepted without its credential or with a wrong one.
const EXCLUDED = 'positive_data_acceptance,object_level_authorization';

/** With them, every route of the document is there. Nobody is sent to either address. */
const EVERYTHING = {
  EVENTS_KEY: 'an-events-key-of-at-least-thirty-two-characters',
  PUBLIC_URL: 'https://link.example',
  SIGN_IN_URL: 'https://host.example/sign-in',
  CLIENT_DOCUMENTS: 'app.example',
  CLIENT_REGISTRATION: 'on',
};

// The same requests every day, others every night: what is found then has a seed to repeat it with.
const SEED = isLong ? [] : ['--seed', '1'];

const TIMEOUT = longer(600_000, 3_600_000);

describeOnEachStore('the HTTP surface, fuzzed by its own OpenAPI document,', (fresh) => {
  /** What is refused before the database is asked does not depend on it. */
  const hasRefusals = isLong || fresh === sqliteDatabase;
  let database: TestDatabase;
  let server: ServerProcess;
  let linked: LinkedApplication;
  let grant: FullGrant;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'latchkey-schemathesis-'));
    database = await fresh();
    server = await ServerProcess.start(database.url, { environment: EVERYTHING });
    linked = await linkedApplication(server);
    grant = await linked.link();
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    await database.remove();
    await rm(directory, { recursive: true });
  });

  /** Runs schemathesis. Fails with its whole output. */
  async function fuzz({ authorization, phases, examples }: Run): Promise<void> {
    const words = [
      ...['-m', 'schemathesis.cli', '--config-file', config, '--no-color'],
      ...['run', `${server.url}/openapi.json`, '--url', server.url],
      ...['--phases', phases, '-n', String(examples)],
      ...['--checks', 'all', '--exclude-checks', EXCLUDED],
      ...['--exclude-path-regex', LEFT_OUT.source],
      ...['--request-timeout', '15', '--continue-on-failure', '--warnings', 'off'],
      ...['--generation-database', 'none'],
      ...SEED,
      ...(authorization === undefined ? [] : ['--header', `Authorization: ${authorization}`]),
    ];
    const env = {
      PATH: process.env.PATH,
      ...{ PYTHONUTF8: '1', PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: folder },
      SCHEMATHESIS_HOOKS: 'header_section',
      APPLICATION_ID: linked.application_id,
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
    // Otherwise the run has tested nothing.
    const document: Json = (await send(server, { method: 'GET', path: '/openapi.json' })).json;
    const tested = Object.entries<object>(document.paths).flatMap(([path, item]) =>
      LEFT_OUT.test(path) ? [] : Object.keys(item),
    );
    expect(said).toMatch(new RegExp(`Tested: ${tested.length}\\b`));
    expect(said).toMatch(/[1-9]\d* generated/);
    // A fuzz run is a flood: the service may drop some of its refusals.
    const usual = /^(request|audit|work|listening|log number|too many refusals.*)$/;
    expect(server.lines.filter(({ msg }) => !usual.test(msg))).toEqual([]);
  }

  const options = { timeout: TIMEOUT };

  test('responds as documented to the right credentials', options, async ({ skip }) => {
    skip(python === null, 'there is no schemathesis');
    const phases = `examples,${hasRefusals ? 'coverage,' : ''}fuzzing,stateful`;
    await fuzz({ phases, examples: longer(3, 200) });
  });

  if (!hasRefusals) return;
  test.for([
    ['an application secret everywhere', (): string => linked.bearer],
    ['a grant everywhere', (): string => asBearer(grant)],
    ['the ADMIN_SECRET everywhere', (): string => operator],
  ] as const)('responds as documented to %s', options, async ([, authorization], { skip }) => {
    skip(python === null, 'there is no schemathesis');
    await fuzz({ authorization: authorization(), phases: 'fuzzing', examples: longer(1, 60) });
  });
});
