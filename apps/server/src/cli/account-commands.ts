import type { Command } from 'commander';
import { newId } from '../credentials/credentials.ts';
import { runOperation } from './run-operation.ts';

export function addAccountCommands(program: Command, environment: NodeJS.ProcessEnv): void {
  program
    .command('account')
    .description('the accounts that grants are about')
    .command('put')
    .requiredOption('--username <name>', 'the user name')
    .option('--id <uuid>', 'the account to replace; a new one unless given')
    .option('--display-name <name>', 'the user name unless given')
    .option('--twitter <handle>', 'a social handle; none unless given')
    .option('--verified', 'the account is verified')
    .option('--supporter', 'the account is a supporter')
    .option('--json', 'print the object of the API')
    .description('make an account known, or replace the whole of it')
    .action(({ id, username, displayName, twitter, verified, supporter, ...options }) =>
      runOperation(
        environment,
        'admin.accounts.put',
        {
          account_id: id ?? newId(Date.now()),
          username,
          display_name: displayName,
          twitter: twitter ?? null,
          verified: verified ?? false,
          supporter: supporter ?? false,
        },
        options,
        (account) => `${account.id}  ${account.username} (${account.display_name})`,
      ),
    );
}
