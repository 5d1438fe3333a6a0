import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { commandOn } from '../test/command.ts';

// Whatever a login does, a run without a report says so in one line, and is no success.

test.each([
  ['export default () => process.exit(0);', /something called process\.exit/],
  ['process.exit(0);', /something called process\.exit/],
  [
    `export default (url, browser) => {
      browser.open('http://127.0.0.1:1/?code=a-code');
      return new Promise(() => undefined);
    };`,
    /nothing waits for \(NoResponse.*\)\. Put await before/,
  ],
  [
    `export default () => new Promise(() => {
      setTimeout(() => { throw new TypeError('The code is a-code'); });
    });`,
    /TypeError, at .*login\.mjs:2:32\. If that place is in your login/,
  ],
  ['await new Promise(() => undefined);', /waits, outside its function, for something/],
  ['throw null;', /^--login .*login\.mjs can't be loaded: null\.$/m],
])('a login with: %s', async (code, said) => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth-race-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const login = join(folder, 'login.mjs');
  await writeFile(login, code);
  const { exitCode, stdout, stderr } = await commandOn([], '--login', login);
  expect(stderr).toMatch(said);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).not.toContain('a-code');
});
