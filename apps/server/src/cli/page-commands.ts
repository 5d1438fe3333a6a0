import type { Command } from 'commander';
import { en } from '../http/linking/texts/en.ts';
import type { Terminal } from './terminal.ts';

export function addPageCommands(program: Command, { stdout }: Terminal): void {
  const page = program.command('page').description('the pages that users see');

  page
    .command('texts')
    .description('print the English texts of the pages, as a file for PAGE_TEXTS')
    .action(() => {
      stdout.write(`${JSON.stringify({ en }, null, 2)}\n`);
    });
}
