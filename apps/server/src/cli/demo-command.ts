import type { Command } from 'commander';
import { addExamples } from './command-tree.ts';
import type { Terminal } from './terminal.ts';

export function addDemoCommand(command: Command, terminal: Terminal): void {
  command.action(async () => {
    const { printDemo } = await import('./print-demo.ts');
    await printDemo(terminal);
  });
  addExamples(command, 'demo');
}
