import type { Command } from 'commander';
import { addExamples } from './command-tree.ts';
import type { Terminal } from './terminal.ts';

export function addServeCommand(command: Command, terminal: Terminal): void {
  command
    .option('--copied', 'start on a database that was copied, or on a copy that is not the last')
    .option(
      '--new-events-key',
      'start with another EVENTS_KEY than that of the secrets of the endpoints: it is lost, or has leaked',
    )
    .option('--incomplete', 'start on a SQLite database that may lack its last changes')
    .action(async ({ copied = false, newEventsKey = false, incomplete = false }) => {
      const { serve } = await import('./serve.ts');
      await serve(terminal, {
        evenIfCopied: copied,
        isNewEventsKey: newEventsKey,
        evenIfIncomplete: incomplete,
      });
    });
  addExamples(command, 'serve', 'serve 2>> latchkey.log');
}
