import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examplesFolder } from './support/examples-folder.ts';
import { codeBlocks } from './support/markdown.ts';
import { environment, run } from './support/service.ts';

// The README of the test server shows an application and its tests from examples/testing.

test('the programs in the README of the test server are those of examples/testing', async () => {
  const readme = await readFile(new URL('../packages/testing/README.md', import.meta.url), 'utf8');
  const programs = codeBlocks(readme).filter(({ language }) => language === 'ts');
  const files = [
    'links.ts',
    'vitest.test.ts',
    'node-test.ts',
    'heard-events.test.ts',
    'events.test.ts',
  ].map((name) => readFile(join(examplesFolder, 'testing', name), 'utf8'));
  expect(programs.map(({ code }) => code)).toEqual(await Promise.all(files));
});

// Vitest runs the others itself.
test('the tests for node:test pass', async () => {
  const words = ['--test', '--test-reporter=tap', 'testing/node-test.ts'];
  const options = { cwd: examplesFolder, env: environment() };
  const { exitCode, stdout, stderr } = await run(process.execPath, words, options);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(/^# pass 5$/m);
});
