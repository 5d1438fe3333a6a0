import type { Command } from 'commander';

export function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

export function addExamples(command: Command, ...lines: string[]): Command {
  const text = lines.join('\n  $ latchkey ');
  return command.addHelpText('after', `\nExamples:\n  $ latchkey ${text}`);
}
