import type { Command } from 'commander';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { runInProcess } from '../http/command-process.ts';
import { commands, examplesOf, wordsOf } from './examples-of-help.ts';

test.each(commands)('the help of %j has examples that it accepts', async (words, command) => {
  const examples = await examplesOf(words);
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) {
    expect(example.slice(0, words.length)).toEqual(words);
    const ran = commands
      .filter(([name]) => name.every((word, index) => example[index] === word))
      .at(-1)?.[1] as Command;
    expect(ran.commands.length === 0 || example.includes('--help'), example.join(' ')).toBe(true);
    expectAccepted(ran, example.slice(wordsOf(ran).length));
  }
  expect(command.description()).not.toBe('');
});

/** Parses without running, since the database of an example does not exist. */
function expectAccepted(command: Command, words: string[]): void {
  const { operands, unknown } = command.parseOptions(words);
  const known = unknown.filter((word) => word !== '--help' && word.startsWith('--'));
  expect(known, words.join(' ')).toEqual([]);
  const required = command.registeredArguments.filter((argument) => argument.required).length;
  const isVariadic = command.registeredArguments.some((argument) => argument.variadic);
  if (words.includes('--help')) return;
  expect(operands.length, words.join(' ')).toBeGreaterThanOrEqual(required);
  if (!isVariadic) {
    expect(operands.length, words.join(' ')).toBeLessThanOrEqual(
      command.registeredArguments.length,
    );
  }
  for (const option of command.options.filter(({ mandatory }) => mandatory)) {
    expect(words, words.join(' ')).toContain(option.long);
  }
}

test('the help fits a terminal', async () => {
  const { stdout } = await runInProcess(['--help'], {}, { columns: 60 });
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
});

test('the help marks the options without which a command does nothing', async () => {
  const { stdout } = await runInProcess(['connection', 'revoke', '--help'], {});
  const marked = [...stdout.matchAll(/^ +(--\S+) .*; required$/gm)].map(([, flag]) => flag);
  expect(marked).toEqual(['--account', '--app']);
});

test('--version prints the version of the package', async () => {
  expect(await runInProcess(['--version'], {})).toEqual({
    code: 0,
    stdout: `latchkey ${packageJson.version}\n`,
    stderr: '',
  });
});

test.each([
  ['app create', '--idle-days <number>', /a grant ends; 1 to 3650 \(default: never\)$/],
  ['app create', '--no-challenge-required', /^without this option, each of its .* needs /],
  ['app update', '--no-idle-days', /^instead of --idle-days: never$/],
  ['app list', '--no-documents', /^only those that have none$/],
  ['key create', '--expires <time>', /; for example 2027-01-31T00:00:00Z \(default: never\)$/],
  ['key create', '--role <role>', /operate does everything except keys$/],
  ['delivery list', '--status <status>', /; pending, delivered, failed or dropped$/],
])('the help of %s says what %s means', (words, flags, meaning) => {
  const [, command] = commands.find(([each]) => each.join(' ') === words) ?? [];
  expect(command?.options.find((option) => option.flags === flags)?.description).toMatch(meaning);
});
