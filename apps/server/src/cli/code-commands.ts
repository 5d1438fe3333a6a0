import type { Command } from 'commander';
import { addExamples } from './examples.ts';
import { runOperation } from './run-operation.ts';
import type { Terminal } from './terminal.ts';

export function addCodeCommands(code: Command, terminal: Terminal): void {
  addExamples(
    code,
    'code issue --app APP_ID --account ACCOUNT_ID --scope profile.read',
    'code cancel GRANT_ID',
  );

  const issue = code
    .command('issue')
    .requiredOption('--app <app-id>', 'the application that may convert it')
    .requiredOption('--account <account-id>', 'the account that the grant will be for')
    .requiredOption(
      '--scope <scope>',
      'scope tokens, separated by spaces, for example "profile.read"',
    )
    .option('--resource <url>', 'the registered resource that the grant will be for')
    .option('--json', 'print JSON, as the API returns it')
    .description('issue a code, which works once and for 5 minutes')
    .action(({ app, account, scope, resource, ...options }) =>
      runOperation(
        terminal,
        'admin.codes.issue',
        {
          ...{ application_id: app, account_id: account, scope },
          ...(resource !== undefined && { resource }),
        },
        options,
        (issued) => `${issued.code}\nfor grant ${issued.grant_id}, until ${issued.expires_at}`,
      ),
    );
  addExamples(
    issue,
    "code issue --app APP_ID --account ACCOUNT_ID --scope 'profile.read email'",
    'code issue --app APP_ID --account ACCOUNT_ID --scope email --json | jq -r .code',
  );

  const cancel = code
    .command('cancel')
    .argument('<grant-id>', 'the grant id of the code')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON, as the API returns it')
    .description('cancel a code that was not converted yet')
    .action(async (grant_id, options) => {
      await runOperation(
        terminal,
        'admin.codes.cancel',
        { grant_id },
        options,
        (cancelled) => `The code of grant ${cancelled.grant_id} is cancelled.`,
      );
    });
  addExamples(cancel, 'code cancel GRANT_ID');
}
