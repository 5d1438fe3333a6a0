import type { Command } from 'commander';
import { addExamples } from './examples.ts';
import type { Terminal } from './terminal.ts';

export function addDemoCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('demo')
    .description('print the address of the demo, a code to convert, and how to revoke its grant')
    .action(async () => {
      const { printDemo } = await import('./print-demo.ts');
      await printDemo(terminal);
    });
  addExamples(command, 'demo');
}
