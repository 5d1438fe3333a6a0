import type { Command } from 'commander';
import { expect } from 'vitest';
import { createProgram } from '../../src/cli/command-line.ts';
import { allCommands, pathOf } from '../../src/cli/command-tree.ts';
import { runInProcess } from '../http/command-process.ts';

const program = await createProgram({
  environment: {},
  stdin: process.stdin,
  stdout: { write() {} },
  stderr: { write() {} },
});

export const wordsOf = (command: Command) => pathOf(command).split(' ').slice(1);
export const commands = allCommands(program).map((command) => [wordsOf(command), command] as const);

const helpOf = async (words: readonly string[]) => {
  const { code, stdout, stderr } = await runInProcess([...words, '--help'], {});
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};

/** The examples of its help text: the first command of each pipe, as words. */
export async function examplesOf(words: readonly string[]): Promise<string[][]> {
  const help = await helpOf(words);
  const [, examples = ''] = help.split('\nExamples:\n');
  return [...examples.matchAll(/^ {2}\$ latchkey (.*)$/gm)].map(([, line = '']) => {
    const [command = ''] = line.split(/ [|<>]|2>>/);
    return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain ?? '',
    );
  });
}
