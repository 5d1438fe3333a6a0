import type { Command } from 'commander';
import { runOperation } from './run-operation.ts';

export function addCodeCommands(program: Command, environment: NodeJS.ProcessEnv): void {
  const code = program.command('code').description('codes that applications exchange for grants');

  code
    .command('issue')
    .requiredOption('--app <app-id>', 'the application that may exchange it')
    .requiredOption('--account <account-id>', 'the account that the grant will be about')
    .requiredOption('--scope <scope>', 'space-separated scope tokens, such as "profile.read"')
    .option('--json', 'print the object of the API')
    .description('issue a code, good for one exchange within 5 minutes')
    .action(({ app, account, scope, ...options }) =>
      runOperation(
        environment,
        'admin.codes.issue',
        { application_id: app, account_id: account, scope },
        options,
        (issued) => `${issued.code}\nfor grant ${issued.grant_id}, until ${issued.expires_at}`,
      ),
    );

  code
    .command('cancel')
    .argument('<grant-id>', 'the grant that the code would become')
    .option('--json', 'print the object of the API')
    .description('cancel a code that nobody has exchanged')
    .action((grant_id, options) =>
      runOperation(
        environment,
        'admin.codes.cancel',
        { grant_id },
        options,
        (cancelled) => `The code of grant ${cancelled.grant_id} is cancelled.`,
      ),
    );
}
