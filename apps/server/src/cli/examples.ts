import type { Command } from 'commander';

export function addExamples(command: Command, ...lines: string[]): Command {
  return command.addHelpText('after', `\nExamples:\n  $ latchkey ${lines.join('\n  $ latchkey ')}`);
}
