import type { Command } from 'commander';

/**
 * Adds examples to the help of a command.
 *
 * @param lines - command lines without the name of the program
 */
export function addExamples(command: Command, ...lines: string[]): Command {
  const text = lines.map((line) => `  $ latchkey ${line}`).join('\n');
  return command.addHelpText('after', `\nExamples:\n${text}`);
}
