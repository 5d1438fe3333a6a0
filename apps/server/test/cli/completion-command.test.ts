import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runInProcess } from '../http/command-process.ts';

/** For each shell, a program that completes the words of its arguments with the script in $SCRIPT. */
const shells: Record<string, (words: readonly string[]) => string[]> = {
  bash: (words) => [
    '-c',
    `source "$SCRIPT"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _latchkey
     printf "%s\\n" "\${COMPREPLY[@]}"`,
    'bash',
    ...words,
  ],
  // The part of zsh that shows what is offered works on a terminal only.
  zsh: (words) => [
    '-fc',
    `compdef() {}; _describe() { print -l -- "\${(@)\${(P@)2}%%:*}" | grep -- "^\${words[CURRENT]}" }
     _files() {}; source "$SCRIPT"; words=("$@"); CURRENT=$#; _latchkey`,
    'zsh',
    ...words,
  ],
  fish: (words) => ['-c', `source $SCRIPT; complete -C "${words.join(' ')}" | cut -f1`],
};

describe.each(Object.entries(shells))('completion in %s', (shell, argumentsFor) => {
  const isInstalled = spawnSync(shell, ['-c', 'true']).status === 0;
  let folder: string;
  let SCRIPT: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'latchkey-completion-'));
    SCRIPT = join(folder, 'script');
    const { code, stdout } = await runInProcess(['completion', shell], {});
    expect(code).toBe(0);
    writeFileSync(SCRIPT, stdout);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function complete(...words: string[]): string[] {
    const env = { PATH: process.env.PATH, HOME: folder, SCRIPT };
    const { stdout, stderr } = spawnSync(shell, argumentsFor(words), { encoding: 'utf8', env });
    expect(stderr).toBe('');
    return stdout.split('\n').filter(Boolean).sort();
  }

  test.skipIf(!isInstalled).each([
    [['latchkey', 'gr'], ['grant']],
    [['latchkey', 'app', 'se'], ['secret']],
    [['latchkey', 'app', 'secret', 'rev'], ['revoke']],
    [
      ['latchkey', 'grant', 'revoke', '--a'],
      ['--account', '--app'],
    ],
    [['latchkey', 'key', 'delete', '--s'], ['--service']],
    [['latchkey', 'key', 'delete', '--y'], ['--yes']],
    // The words of an argument are no commands.
    [['latchkey', 'app', 'disable', 'app', 'di'], []],
  ])(isInstalled ? '%j: %j' : '%j (not run: the shell is not installed)', (words, expected) => {
    expect(complete(...words)).toEqual(expected);
  });
});

test('completion refuses a shell that it does not know', async () => {
  const { code, stderr } = await runInProcess(['completion', 'csh'], {});
  expect(code).toBe(2);
  expect(stderr).toContain('It must be one of bash, zsh, fish.');
});
