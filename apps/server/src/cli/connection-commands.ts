import type { Command } from 'commander';
import { CHANGING, withCalls } from './calls.ts';
import { addExamples } from './command-tree.ts';
import { confirmEnding } from './confirm.ts';
import { operationRows } from './operation-rows.ts';
import { areEnded, restOf } from './rest-of-work.ts';
import type { Terminal } from './terminal.ts';

export function addConnectionRevokeCommand(connection: Command, terminal: Terminal): void {
  const revoke = connection
    .command('revoke')
    .requiredOption('--account <account-id>', 'the account')
    .requiredOption('--app <app-id>', 'the application')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON, as the API returns it')
    .description('end every grant and pending code of an account with an application, for good')
    .action(async ({ account, app, ...options }) => {
      const connection = { account_id: account, application_id: app };
      const { ends } = operationRows['admin.connections.revoke'];
      await confirmEnding(terminal, ends, connection, options);
      await withCalls(terminal, CHANGING, async ({ call }) => {
        const ended = await call('admin.connections.revoke', connection);
        const lines = ended.data.map(({ grant_id }) => `Grant ${grant_id} is revoked.`);
        lines.push(areEnded(lines.length, 'grant', 'revoked') + restOf(ended.state));
        await terminal.stdout.write(`${options.json ? JSON.stringify(ended) : lines.join('\n')}\n`);
      });
    });
  addExamples(revoke, 'connection revoke --account ACCOUNT_ID --app APP_ID');
}
