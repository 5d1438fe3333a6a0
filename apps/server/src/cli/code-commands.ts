import type { Command } from 'commander';
import { runOperation, type Terminal } from './run-operation.ts';

export function addCodeCommands(program: Command, terminal: Terminal): void {
  const code = program.command('code').description('codes that applications exchange for grants');

  code
    .command('issue')
    .requiredOption('--app <app-id>', 'the application that may exchange it')
    .requiredOption('--account <account-id>', 'the account that the grant will be for')
    .requiredOption(
      '--scope <scope>',
      'scope tokens, with spaces between them, for example "profile.read"',
    )
    .option('--json', 'print JSON, as the API returns it')
    .description('issue a code, which works once and for 5 minutes')
    .action(({ app, account, scope, ...options }) =>
      runOperation(
        terminal,
        'admin.codes.issue',
        { application_id: app, account_id: account, scope },
        options,
        (issued) => `${issued.code}\nfor grant ${issued.grant_id}, until ${issued.expires_at}`,
      ),
    );

  code
    .command('cancel')
    .argument('<grant-id>', 'the grant id of the code')
    .option('--json', 'print JSON, as the API returns it')
    .description('cancel a code that was not exchanged yet')
    .action((grant_id, options) =>
      runOperation(
        terminal,
        'admin.codes.cancel',
        { grant_id },
        options,
        (cancelled) => `The code of grant ${cancelled.grant_id} is cancelled.`,
      ),
    );
}
