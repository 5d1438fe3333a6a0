import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { commands as rows } from '../../src/cli/commands.ts';
import { destroys, meanings, suggestionsFor } from '../../src/cli/suggestions.ts';
import { runInProcess } from '../http/command-process.ts';
import { commands, wordsOf } from './examples-of-help.ts';

const byPath = new Map(commands.map(([words, command]) => [words.join(' '), command]));

const suggestedBy = (line: string) => {
  const words = line.split(' ');
  const group = byPath.get(words.slice(0, -1).join(' '));
  return group ? suggestionsFor(group, words.at(-1) ?? '') : [];
};

test.each([
  ['revoke', ['grant revoke', 'connection revoke']],
  ['account revoke', ['grant revoke', 'connection revoke']],
  ['status', ['doctor', 'summary']],
  ['users', ['account']],
  ['Clients', ['app']],
  ['app rotate', ['app secret add']],
  ['refusal', ['refusals']],
  ['key lsit', ['key list']],
  ['restor', []],
  ['grant revok', []],
  ['frobnicate', []],
])('%s: %j', (line, expected) => {
  expect(suggestedBy(line)).toEqual(expected);
});

test('each word leads to commands, and to one that destroys by its own name alone', () => {
  for (const [word, paths] of Object.entries(meanings)) {
    for (const path of paths) {
      const command = byPath.get(path);
      expect(command, path).toBeDefined();
      if (command && destroys(command)) expect(path.split(' ').at(-1), word).toBe(word);
    }
  }
});

test('no typing mistake leads to a command that destroys', () => {
  for (const [words, command] of commands) {
    if (command.parent === null) continue;
    const name = command.name();
    const slips = [...name].flatMap((_, at) => [
      name.slice(0, at) + name.slice(at + 1),
      `${name.slice(0, at)}x${name.slice(at + 1)}`,
    ]);
    for (const slip of slips) {
      if (Object.hasOwn(meanings, slip) || slip.length === 0) continue;
      const suggested = suggestedBy([...words.slice(0, -1), slip].join(' '));
      for (const path of suggested) expect(destroys(byPath.get(path) as never), path).toBe(false);
      if (!destroys(command) && name.length > 1) expect(suggested, slip).toContain(words.join(' '));
    }
  }
});

test('the table of commands says which ones destroy', () => {
  for (const { name, object, destroys: said = false } of rows) {
    const asks = byPath.get(name)?.options.some(({ long }) => long === '--yes') ?? false;
    if (object === undefined && asks) expect(said, name).toBe(true);
  }
  const destroying = commands.filter(([, command]) => destroys(command));
  expect(destroying.map(([, command]) => wordsOf(command).join(' '))).toMatchInlineSnapshot(`
    [
      "app secret revoke",
      "app delete",
      "account erase",
      "code cancel",
      "grant revoke",
      "resource delete",
      "key delete",
      "endpoint delete",
      "scope delete",
      "link deny",
      "connection revoke",
      "restore",
      "revoke-again",
      "copy",
    ]
  `);
});

test('an unknown command exits with 2 and names what was meant, and no option is guessed', async () => {
  expect(await runInProcess(['revoke', '--yes'], {})).toMatchObject({
    code: 2,
    stderr: `error: unknown command 'revoke'
Did you mean:
  latchkey grant revoke
  latchkey connection revoke
Run latchkey --help for all of its commands.
`,
  });
  const { stderr } = await runInProcess(['copy', '--list'], {});
  expect(stderr).toMatch(/^error: unknown option '--list'\n/);
  expect(stderr).not.toContain('--last');
});

test.each(['-v', 'version'])('%s prints the version', async (word) => {
  const stdout = `latchkey ${packageJson.version}\n`;
  expect(await runInProcess([word], {})).toEqual({ code: 0, stdout, stderr: '' });
});

test('ls lists', async () => {
  const help = await runInProcess(['app', 'list', '--help'], {});
  expect(await runInProcess(['app', 'ls', '--help'], {})).toEqual(help);
});
