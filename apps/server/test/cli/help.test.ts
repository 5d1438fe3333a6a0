import type { Command } from 'commander';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { createProgram } from '../../src/cli/command-line.ts';
import { allCommands, pathOf } from '../../src/cli/command-tree.ts';
import { runInProcess } from '../http/command-process.ts';

const program = createProgram({
  environment: {},
  stdin: process.stdin,
  stdout: { write() {} },
  stderr: { write() {} },
});

const wordsOf = (command: Command) => pathOf(command).split(' ').slice(1);
const commands = allCommands(program).map((command) => [wordsOf(command), command] as const);

const helpOf = async (words: readonly string[]) => {
  const { code, stdout, stderr } = await runInProcess([...words, '--help'], {});
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};

/** The examples of a help text: the first command of each pipe, as words. */
function examplesIn(help: string): string[][] {
  const [, examples = ''] = help.split('\nExamples:\n');
  return [...examples.matchAll(/^ {2}\$ latchkey (.*)$/gm)].map(([, line = '']) => {
    const [command = ''] = line.split(/ [|<>]|2>>/);
    return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain ?? '',
    );
  });
}

test.each(commands)('the help of %j has examples that it accepts', async (words, command) => {
  const examples = examplesIn(await helpOf(words));
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
