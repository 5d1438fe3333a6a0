import type { Command } from 'commander';
import { READING } from './calls.ts';
import { addExamples } from './command-tree.ts';
import { print } from './print.ts';
import type { Terminal } from './terminal.ts';

/** No release has changed the schema: the first change brings its steps to this command (decision 43). */
export function addMigrateCommand(command: Command, terminal: Terminal): void {
  command.option('--json', 'print JSON').action(async ({ json }: { json?: boolean }) => {
    const { withService } = await import('./open-for-command.ts');
    await withService(terminal, READING, async ({ service }) => {
      await service.store.ping();
      const text =
        'The database has the schema of this version of Latchkey. There is nothing to do.';
      await print(terminal, json, { object: 'migration', steps: [] }, text);
    });
  });
  addExamples(command, 'migrate');
}
