import type { AccountEntry } from '@latchkey/schema';
import type { Command } from 'commander';
import { addExamples } from './examples.ts';
import { listAll } from './list.ts';
import { runOperation } from './run-operation.ts';
import { type Column, fieldList } from './table.ts';
import type { Terminal } from './terminal.ts';

const yesOrNo = (value: boolean) => (value ? 'yes' : 'no');

const columns: readonly Column<AccountEntry>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'USERNAME', text: ({ username }) => username, flexible: true },
  { title: 'DISPLAY NAME', text: ({ display_name }) => display_name, flexible: true },
  { title: 'TWITTER', text: ({ twitter }) => twitter ?? '', flexible: true, optional: true },
  { title: 'VERIFIED', text: ({ verified }) => yesOrNo(verified), optional: true },
  { title: 'SUPPORTER', text: ({ supporter }) => yesOrNo(supporter), optional: true },
  {
    title: 'EXTERNAL ID',
    text: ({ external_id }) => external_id ?? '',
    flexible: true,
    optional: true,
  },
];

function describeAccount(account: AccountEntry): string {
  const { id, username, display_name, twitter, verified, supporter, external_id } = account;
  return fieldList([
    ['id', id],
    ['username', username],
    ['display name', display_name],
    ['twitter', twitter ?? 'none'],
    ['verified', yesOrNo(verified)],
    ['supporter', yesOrNo(supporter)],
    ['external id', external_id ?? 'none'],
  ]);
}

export function addAccountCommands(account: Command, terminal: Terminal): void {
  addExamples(account, 'account put --username ada', 'account list --username ada');

  const put = account
    .command('put')
    .requiredOption('--username <name>', 'the user name')
    .option('--id <uuid>', 'the account to create or replace (default: a new id)')
    .option('--display-name <name>', 'the name to show (default: the user name)')
    .option('--twitter <handle>', 'the Twitter handle (default: none)')
    .option('--verified', 'the account is verified')
    .option('--supporter', 'the account is a supporter')
    .option('--external-id <id>', "the service's own id of the account (default: none)")
    .option('--json', 'print JSON, as the API returns it')
    .description('create an account, or replace all of its fields')
    .action(async ({ id, username, displayName, externalId, ...members }) => {
      const { twitter, verified, supporter, ...options } = members;
      const { newId } = await import('@latchkey/domain/credentials/credentials');
      await runOperation(
        terminal,
        'admin.accounts.put',
        {
          account_id: id ?? newId(Date.now()),
          username,
          display_name: displayName,
          twitter: twitter ?? null,
          verified: verified ?? false,
          supporter: supporter ?? false,
          external_id: externalId ?? null,
        },
        options,
        describeAccount,
      );
    });
  addExamples(
    put,
    "account put --username ada --display-name 'Ada Lovelace'",
    'account put --id ACCOUNT_ID --username ada --verified',
  );

  const list = account
    .command('list')
    .option('--username <name>', 'only accounts with exactly this user name')
    .option('--external-id <id>', "only accounts with exactly this id of the service's own")
    .option('--json', 'print JSON, as the API returns it')
    .description('list all accounts, newest first')
    .action(({ username, externalId, ...options }) => {
      const filter = { username, external_id: externalId };
      return listAll(terminal, 'admin.accounts.list', filter, options, columns);
    });
  addExamples(list, 'account list', 'account list --username ada', 'account list | cut -f1');

  const get = account
    .command('get')
    .argument('<account-id>', 'the account')
    .option('--json', 'print JSON, as the API returns it')
    .description('print an account as it is now')
    .action((account_id, options) =>
      runOperation(terminal, 'admin.accounts.get', { account_id }, options, describeAccount),
    );
  addExamples(get, 'account get ACCOUNT_ID');

  const exporting = account
    .command('export')
    .argument('<account-id>', 'the account')
    .option('--json', 'print JSON on one line, as the API returns it')
    .description('print everything that is stored about an account, without credentials')
    .action((account_id, options) =>
      runOperation(terminal, 'admin.accounts.export', { account_id }, options, (exported) =>
        JSON.stringify(exported, null, 2),
      ),
    );
  addExamples(exporting, 'account export ACCOUNT_ID > ada.json');

  const erase = account
    .command('erase')
    .argument('<account-id>', 'the account')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON, as the API returns it')
    .description('revoke the grants of an account and remove its personal data, for good')
    .action(async (account_id, options) => {
      await runOperation(
        terminal,
        'admin.accounts.erase',
        { account_id },
        options,
        ({ id, grants_revoked }) => `Account ${id} is erased. Grants revoked: ${grants_revoked}.`,
      );
    });
  addExamples(erase, 'account erase ACCOUNT_ID', 'account erase ACCOUNT_ID --yes');
}
