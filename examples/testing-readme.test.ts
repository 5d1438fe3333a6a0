import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { codeBlocks } from './test/markdown.ts';
import { environment, run } from './test/service.ts';

// The README of the test server shows an application and its tests, which stand in testing/.

test('the programs in the README of the test server are those that run here', async () => {
  const readme = await readFile(new URL('../packages/testing/README.md', import.meta.url), 'utf8');
  const programs = codeBlocks(readme).filter(({ language }) => language === 'ts');
  const files = ['links.ts', 'vitest.test.ts', 'node-test.ts'].map((name) =>
    readFile(new URL(`testing/${name}`, import.meta.url), 'utf8'),
  );
  expect(programs.map(({ code }) => code)).toEqual(await Promise.all(files));
});

// The others are run by vitest itself.
test('the tests for node:test pass', async () => {
  const words = ['--test', '--test-reporter=tap', 'testing/node-test.ts'];
  const options = { cwd: import.meta.dirname, env: environment() };
  const { exitCode, stdout, stderr } = await run(process.execPath, words, options);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(/^# pass 4$/m);
});
