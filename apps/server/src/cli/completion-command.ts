import { type Command, InvalidArgumentError } from 'commander';
import { bashScript, fishScript, zshScript } from './completion-scripts.ts';
import { addExamples } from './examples.ts';
import type { Terminal } from './terminal.ts';

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };

export function addCompletionCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish', parseShell)
    .description('print a script that completes commands and options in a shell')
    .action(async (shell: keyof typeof scripts) => {
      await terminal.stdout.write(scripts[shell](program));
    });
  addExamples(
    command,
    'completion bash > /etc/bash_completion.d/latchkey',
    'completion zsh > /usr/local/share/zsh/site-functions/_latchkey',
    'completion fish > ~/.config/fish/completions/latchkey.fish',
  );
}

function parseShell(name: string): string {
  if (Object.hasOwn(scripts, name)) return name;
  throw new InvalidArgumentError(`It must be one of ${Object.keys(scripts).join(', ')}.`);
}
