import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installFromLockfile } from '@latchkey/test-kit/tools-from-lockfile';
import { installFromRequirements } from '@latchkey/test-kit/tools-from-requirements';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withoutSettings } from '../../scripts/environment.mjs';
import {
  type Environment,
  latchkey,
  pairIn,
  type ServiceProcess,
  startService,
  succeed,
} from '../support/service.ts';
import { describeWith } from '../support/tools.ts';

// Generates clients from /openapi.json, and links an account with each.

const programs = fileURLToPath(new URL('generators', import.meta.url));

let folder: string;
let service: ServiceProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-generators-'));
  await cp(programs, folder, { recursive: true });
  service = await startService({ cwd: folder, env: environmentWith({}) });
  const response = await fetch(`${service.url}/openapi.json`);
  await writeFile(join(folder, 'openapi.json'), await response.text());
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Package managers need the settings of the machine, such as its proxy. */
const environmentWith = (more: Environment): Environment => ({
  ...(withoutSettings(process.env) as Environment),
  ...more,
});

/** Runs a program with a secret and a code. Returns what it prints. */
async function run(program: string, words: readonly string[], cwd: string): Promise<unknown> {
  const demo = await latchkey(['demo'], { cwd: folder, env: environmentWith({}) });
  const { applicationSecret, code } = pairIn(demo.stdout);
  const env = environmentWith({
    LATCHKEY_URL: service.url,
    LATCHKEY_APPLICATION_SECRET: applicationSecret,
    LATCHKEY_CODE: code,
  });
  return JSON.parse(await succeed(program, words, { cwd, env }));
}

/** What a program prints that links and unlinks an account. */
const linked = ['ada', 'code_already_used', 200];

const installTools = () => installFromLockfile(join(programs, 'typescript'), 'openapi-generators');

test('@hey-api/openapi-ts makes a client that compiles and works', async () => {
  const bin = join(await installTools(), 'node_modules/.bin');
  const cwd = join(folder, 'hey-api');
  const options = { cwd, env: environmentWith({}) };
  await succeed(join(bin, 'openapi-ts'), ['--silent', '--no-log-file'], options);
  await succeed(join(bin, 'tsc'), ['-p', '.'], options);
  const seen = await run(process.execPath, ['out/program.js'], cwd);
  const { grant_id } = (seen as { converted: { grant_id: string } }).converted;
  const issues = [{ path: ['grant_id'], message: expect.stringMatching(/^Must be a UUID/) }];
  expect(seen).toEqual({
    converted: { status: 200, grant_id: expect.any(String), username: 'ada' },
    account: { status: 200, display_name: 'Ada Lovelace' },
    again: { status: 400, error_code: 'code_already_used', grant_id },
    malformed: { status: 400, error_code: 'parameter_invalid', issues },
    revoked: { status: 200, revoked: true },
    refused: { status: 401, error_code: 'credentials_invalid' },
  });
});

test('openapi-typescript makes types that a program compiles with', async () => {
  const tools = await installTools();
  const cwd = join(folder, 'typescript');
  const options = { cwd, env: environmentWith({}) };
  await symlink(join(tools, 'node_modules'), join(cwd, 'node_modules'));
  const bin = join(cwd, 'node_modules/.bin');
  await succeed(join(bin, 'openapi-typescript'), ['../openapi.json', '-o', 'api.ts'], options);
  await succeed(join(bin, 'tsc'), ['-p', '.'], options);
  expect(await run(process.execPath, ['out/program.js'], cwd)).toEqual(linked);
});

await describeWith('python3', () => {
  test('openapi-python-client makes modules that can be imported', async () => {
    const cwd = join(folder, 'python');
    const requirements = join(cwd, 'requirements.txt');
    const bin = await installFromRequirements(requirements, 'openapi-python-client', process.env);
    const words = ['--path', '../openapi.json', '--meta', 'none', '--output-path', 'latchkey_api'];
    const options = { cwd, env: environmentWith({}) };
    await succeed(join(bin, 'openapi-python-client'), ['generate', ...words], options);
    expect(await run(join(bin, 'python'), ['program.py'], cwd)).toEqual(linked);
  });
});

await describeWith('go', () => {
  test('oapi-codegen makes a package that compiles', async () => {
    const cwd = join(folder, 'go');
    const words = ['-generate', 'types,client', '-package', 'main', '-o', 'client.go'];
    const options = { cwd, env: environmentWith({}) };
    await succeed('go', ['tool', 'oapi-codegen', ...words, '../openapi.json'], options);
    // It revokes in JSON, reads the account again, and revokes with a form.
    expect(await run('go', ['run', '-mod=readonly', '.'], cwd)).toEqual([...linked, 401, 200]);
  });
});
