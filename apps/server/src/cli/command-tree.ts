import type { Command } from 'commander';

export function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

const textOf = (lines: readonly string[]) =>
  `\nExamples:\n  $ latchkey ${lines.join('\n  $ latchkey ')}`;

export function addExamples(command: Command, ...lines: string[]): Command {
  return command.addHelpText('after', textOf(lines));
}

/** A command that runs needs no examples. */
export function addExamplesOf(command: Command, lines: () => readonly string[]): void {
  command.addHelpText('after', () => textOf(lines()));
}
