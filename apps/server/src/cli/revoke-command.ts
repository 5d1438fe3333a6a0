import { type Command, Option } from 'commander';
import { addExamples } from './command-tree.ts';
import type { RevokeOptions } from './revoke-grants.ts';
import type { Terminal } from './terminal.ts';

export function addRevokeCommand(grant: Command, terminal: Terminal): void {
  const command = grant
    .command('revoke')
    .argument('[grant-id...]', 'the grants to revoke; - reads them from stdin, one per line')
    .addOption(
      new Option(
        '--account <account-id>',
        'every grant and pending code of this account',
      ).conflicts('app'),
    )
    .option('--app <app-id>', 'every grant and pending code of this application')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON, as the API returns it: one line per grant')
    .description('revoke grants for good; after an interruption, run the same command again')
    .action(async (ids: string[], options: RevokeOptions) => {
      if (ids.length > 0 === (options.account !== undefined || options.app !== undefined)) {
        command.error("error: give either grant ids, or '--account', or '--app'");
      }
      const { revokeGrants } = await import('./revoke-grants.ts');
      await revokeGrants(terminal, ids, options);
    });
  addExamples(
    command,
    'grant revoke GRANT_ID',
    'grant revoke --app APP_ID --yes',
    'grant revoke --account ACCOUNT_ID --json',
    'grant revoke - < grant-ids.txt',
  );
}
