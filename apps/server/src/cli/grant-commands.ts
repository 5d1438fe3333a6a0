import type { GrantEntry } from '@latchkey/schema';
import { type Command, Option } from 'commander';
import { grantHistory } from './grant-history-command.ts';
import { listAll } from './list-all.ts';
import { runOperation } from './run-operation.ts';

function describeGrant(grant: GrantEntry): string {
  const state = grant.revoked_at === null ? 'active' : `revoked ${grant.revoked_at}`;
  return `${grant.grant_id}  ${grant.account.username}  ${grant.scope}  since ${grant.created_at}  ${state}`;
}

export function addGrantCommands(program: Command, environment: NodeJS.ProcessEnv): void {
  const grant = program.command('grant').description('grants of accounts to applications');

  grant
    .command('list')
    .addOption(new Option('--account <account-id>', 'of this account').conflicts('app'))
    .option('--app <app-id>', 'of this application')
    .option('--json', 'print the object of the API')
    .description('list the grants of an account or of an application, newest first')
    .action(({ account, app, ...options }, command: Command) => {
      if (account === undefined && app === undefined) {
        command.error("error: one of '--account' and '--app' is required");
      }
      return listAll(
        environment,
        'admin.grants.list',
        { account_id: account, application_id: app },
        options,
        describeGrant,
      );
    });

  grant
    .command('history')
    .argument('<grant-id>', 'the grant, or the one that a code would become')
    .option('--json', 'print it as an object')
    .description('print what happened to a grant, and what was refused about it, oldest first')
    .action((grant_id, options) => grantHistory(environment, grant_id, options));

  grant
    .command('revoke')
    .argument('<grant-id>', 'the grant to end')
    .option('--json', 'print the object of the API')
    .description('revoke a grant of any application, at once and for good')
    .action((grant_id, options) =>
      runOperation(
        environment,
        'admin.grants.revoke',
        { grant_id },
        options,
        (revoked) => `Grant ${revoked.grant_id} is revoked.`,
      ),
    );
}
