import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { INSTALL_TIMEOUT_MS, installFromLockfile } from '@latchkey/test-kit/tools-from-lockfile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressOfNobody } from './support/nobody.ts';
import { installPackedSdk } from './support/packed-sdk.ts';
import {
  environment,
  latchkey,
  pairIn,
  run,
  type ServiceProcess,
  startService,
} from './support/service.ts';

// Jest loads packages by its own rules, and gives every test file its own globals. So the packed SDK
// is tested in it, as an application in TypeScript has it: as CommonJS and as ESM.

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

let tools: string;
let application: string;
let service: ServiceProcess;
let nobody: string;

beforeAll(async () => {
  tools = await installFromLockfile(here('support/jest/tools'), 'jest');
  // Below Jest, as in a workspace.
  application = await mkdtemp(join(tools, 'application-'));
  for (const file of ['link.test.ts', 'own-server.test.ts', 'tsconfig.json']) {
    await cp(here(`support/jest/${file}`), join(application, file));
  }
  const { dependencies } = JSON.parse(await readFile(join(tools, 'package.json'), 'utf8'));
  // A dependency of the test server would bring the newest TypeScript, which ts-jest can't use.
  const { typescript } = dependencies;
  await installPackedSdk(application, { typescript }, { testing: true });
  service = await startService({ cwd: application, env: environment() });
  nobody = await addressOfNobody();
}, INSTALL_TIMEOUT_MS);

afterAll(async () => {
  await service?.stop();
  await rm(application, { recursive: true, force: true });
});

/** Runs Jest; fails if a test does. */
async function jest(type: 'commonjs' | 'module', flags: string[], file: string) {
  const manifest = JSON.parse(await readFile(join(application, 'package.json'), 'utf8'));
  const preset = type === 'module' ? 'ts-jest/presets/default-esm' : 'ts-jest';
  await writeFile(
    join(application, 'package.json'),
    JSON.stringify({ ...manifest, type, jest: { preset } }),
  );
  const demo = await latchkey(['demo'], { cwd: application, env: environment() });
  const { applicationSecret, code } = pairIn(demo.stdout);
  const words = [...flags, join(tools, 'node_modules/jest/bin/jest.js'), '--no-cache', file];
  const { exitCode, stderr } = await run(process.execPath, words, {
    cwd: application,
    env: environment({
      LATCHKEY_URL: service.url,
      LATCHKEY_APPLICATION_SECRET: applicationSecret,
      LATCHKEY_CODE: code,
      NOBODY: nobody,
      NO_COLOR: '1',
    }),
  });
  expect(stderr).toMatch(/^Tests: +\d+ passed, \d+ total$/m);
  expect(exitCode).toBe(0);
}

const FLAGS = ['--experimental-vm-modules'];

describe.each([
  { type: 'commonjs', flags: [] },
  { type: 'module', flags: FLAGS },
] as const)('Jest, with tests as $type', ({ type, flags }) => {
  test('runs the SDK', () => jest(type, [...flags], 'link.test.ts'));
  test('runs the test server, with the flag', () => jest(type, FLAGS, 'own-server.test.ts'));
});

test('the guide to tests says how', async () => {
  const guide = await readFile(here('../docs/guides/test-your-integration.md'), 'utf8');
  expect(guide).toContain(`\`node ${FLAGS.join(' ')} node_modules/jest/bin/jest.js\``);
});
