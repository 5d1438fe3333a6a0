import type { GrantEntry } from '@latchkey/schema';
import { type Command, Option } from 'commander';
import { ageOf } from './age.ts';
import { addHistoryCommand } from './audit-commands.ts';
import { addExamples } from './examples.ts';
import { listAll } from './list.ts';
import { addRevokeCommand } from './revoke-command.ts';
import type { Column } from './table.ts';
import type { Terminal } from './terminal.ts';

const columns: readonly Column<GrantEntry>[] = [
  { title: 'GRANT', text: ({ grant_id }) => grant_id },
  { title: 'ACCOUNT', text: ({ account }) => account.username, flexible: true },
  { title: 'SCOPE', text: ({ scope }) => scope, flexible: true },
  { title: 'STATE', text: ({ revoked }) => (revoked ? 'revoked' : 'active') },
  {
    title: 'AGE',
    text: ({ created_at }) => created_at,
    short: ({ created_at }) => ageOf(created_at),
    optional: true,
  },
  {
    title: 'LAST USED',
    text: ({ last_used_at }) => last_used_at ?? '',
    short: ({ last_used_at }) => (last_used_at === null ? 'never' : `${ageOf(last_used_at)} ago`),
    optional: true,
  },
  {
    title: 'REVOKED',
    text: ({ revoked_at }) => revoked_at ?? '',
    short: ({ revoked_at }) => (revoked_at === null ? '' : `${ageOf(revoked_at)} ago`),
    optional: true,
  },
  { title: 'APPLICATION', text: ({ application_id }) => application_id, optional: true },
  { title: 'ACCOUNT ID', text: ({ account }) => account.id, optional: true },
];

export function addGrantCommands(grant: Command, terminal: Terminal): void {
  addExamples(grant, 'grant list --account ACCOUNT_ID', 'grant revoke GRANT_ID');

  const list = grant
    .command('list')
    .addOption(new Option('--account <account-id>', 'of this account').conflicts('app'))
    .option('--app <app-id>', 'of this application')
    .option('--json', 'print JSON, as the API returns it')
    .description('list the grants of an account or of an application, newest first')
    .action(({ account, app, ...options }, command: Command) => {
      if (account === undefined && app === undefined) {
        command.error("error: one of '--account' and '--app' is required");
      }
      return listAll(
        terminal,
        'admin.grants.list',
        { account_id: account, application_id: app },
        options,
        columns,
      );
    });
  addExamples(
    list,
    'grant list --account ACCOUNT_ID',
    "grant list --app APP_ID --json | jq '.data[] | select(.revoked | not)'",
  );

  addHistoryCommand(grant, terminal);
  addRevokeCommand(grant, terminal);
}
