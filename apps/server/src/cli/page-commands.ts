import type { Command } from 'commander';
import { addExamples } from './examples.ts';
import { runOperation } from './run-operation.ts';
import type { Terminal } from './terminal.ts';

export function addPageCommands(page: Command, terminal: Terminal): void {
  addExamples(page, 'page create --account ACCOUNT_ID', 'page texts');

  const create = page
    .command('create')
    .requiredOption('--account <account-id>', 'the account whose user gets the page')
    .option('--return-url <url>', 'the address that the page links back to')
    .option('--json', 'print JSON, as the API returns it')
    .description('print an address that opens the connected applications of an account, once')
    .action(({ account, returnUrl, json }) =>
      runOperation(
        terminal,
        'admin.pages.create',
        {
          page: 'connections',
          account_id: account,
          ...(returnUrl !== undefined && { return_url: returnUrl }),
        },
        { json },
        ({ url, expires_at }) => `${url}\nopens in one browser, until ${expires_at}`,
      ),
    );
  addExamples(
    create,
    'page create --account ACCOUNT_ID --return-url https://host.example/settings',
  );

  const end = page
    .command('end')
    .requiredOption('--account <account-id>', 'the account whose user has signed out')
    .option('--json', 'print JSON, as the API returns it')
    .description('end every page of an account; links stay')
    .action(({ account, ...options }) =>
      runOperation(
        terminal,
        'admin.pages.end',
        { account_id: account },
        options,
        ({ account_id }) => `The pages of the account ${account_id} have ended.`,
      ),
    );
  addExamples(end, 'page end --account ACCOUNT_ID');

  const texts = page
    .command('texts')
    .description('print the English texts of the pages, as a file for PAGE_TEXTS')
    .action(async () => {
      const { en } = await import('../page-texts/en.ts');
      await terminal.stdout.write(`${JSON.stringify({ en }, null, 2)}\n`);
    });
  addExamples(texts, 'page texts > texts.json');
}
