import type { Command } from 'commander';
import { addExamples } from './examples.ts';
import type { Terminal } from './terminal.ts';

export function addServeCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('serve')
    .description('run the service until SIGTERM, SIGINT or SIGHUP')
    .action(async () => {
      const { serve } = await import('./serve.ts');
      await serve(terminal);
    });
  addExamples(command, 'serve', 'serve 2>> latchkey.log');
}
