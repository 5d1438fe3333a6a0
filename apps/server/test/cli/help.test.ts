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

test('--version prints the version of the package', async () => {
  expect(await runInProcess(['--version'], {})).toEqual({
    code: 0,
    stdout: `latchkey ${packageJson.version}\n`,
    stderr: '',
  });
});
