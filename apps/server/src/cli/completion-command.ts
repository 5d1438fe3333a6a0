import { type Command, InvalidArgumentError } from 'commander';
import { addExamples } from './examples.ts';
import type { Terminal } from './terminal.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

export function addCompletionCommand(command: Command, terminal: Terminal): void {
  command.argument('<shell>', 'bash, zsh or fish', parseShell).action(async (shell: Shell) => {
    const { scripts } = await import('./completion-scripts.ts');
    await terminal.stdout.write(scripts[shell](command.parent as Command));
  });
  addExamples(
    command,
    'completion bash > /etc/bash_completion.d/latchkey',
    'completion zsh > /usr/local/share/zsh/site-functions/_latchkey',
    'completion fish > ~/.config/fish/completions/latchkey.fish',
  );
}

function parseShell(name: string): Shell {
  const shell = shells.find((each) => each === name);
  if (shell !== undefined) return shell;
  throw new InvalidArgumentError(`It must be one of ${shells.join(', ')}.`);
}
