import type { GrantEntry } from '@latchkey/schema';
import { type Command, Option } from 'commander';
import { addHistoryCommand } from './audit-commands.ts';
import { listAll, runOperation, type Terminal } from './run-operation.ts';

function describeGrant(grant: GrantEntry): string {
  const state = grant.revoked_at === null ? 'active' : `revoked ${grant.revoked_at}`;
  return `${grant.grant_id}  ${grant.account.username}  ${grant.scope}  since ${grant.created_at}  ${state}`;
}

export function addGrantCommands(program: Command, terminal: Terminal): void {
  const grant = program.command('grant').description('the grants that applications hold');

  grant
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
        describeGrant,
      );
    });

  addHistoryCommand(grant, terminal);

  grant
    .command('revoke')
    .argument('<grant-id>', 'the grant to revoke')
    .option('--json', 'print JSON, as the API returns it')
    .description('revoke a grant; this cannot be undone')
    .action((grant_id, options) =>
      runOperation(
        terminal,
        'admin.grants.revoke',
        { grant_id },
        options,
        (revoked) => `Grant ${revoked.grant_id} is revoked.`,
      ),
    );
}
