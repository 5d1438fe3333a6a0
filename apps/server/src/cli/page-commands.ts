import type { Command } from 'commander';
import { addExamples } from './command-tree.ts';
import type { Terminal } from './terminal.ts';

export function addPageTextsCommand(page: Command, terminal: Terminal): void {
  const texts = page
    .command('texts')
    .description('print the English texts of the pages, as a file for PAGE_TEXTS')
    .action(async () => {
      const { en } = await import('../page-texts/en.ts');
      await terminal.stdout.write(`${JSON.stringify({ en }, null, 2)}\n`);
    });
  addExamples(texts, 'page texts > texts.json');
}
