import type { Command } from 'commander';

export function addExamples(command: Command, ...lines: string[]): Command {
  const text = lines.map((line) => `  $ latchkey ${line}`).join('\n');
  return command.addHelpText('after', `\nExamples:\n${text}`);
}
