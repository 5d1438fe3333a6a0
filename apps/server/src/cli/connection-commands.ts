import type { Connection } from '@latchkey/schema';
import type { Command } from 'commander';
import { ageOf } from './age.ts';
import { confirmEnding } from './confirm.ts';
import { addExamples } from './examples.ts';
import { printList } from './list.ts';
import { CHANGING, READING, withCalls } from './run-operation.ts';
import type { Column } from './table.ts';
import type { Terminal } from './terminal.ts';

const columns: readonly Column<Connection>[] = [
  { title: 'APPLICATION', text: ({ application }) => application.id },
  { title: 'NAME', text: ({ application }) => application.name, flexible: true },
  {
    title: 'SCOPES',
    text: ({ scopes }) => scopes.map(({ scope }) => scope).join(' '),
    flexible: true,
  },
  { title: 'GRANTS', text: ({ grants }) => String(grants.length), optional: true },
  {
    title: 'AGE',
    text: ({ connected_at }) => connected_at,
    short: ({ connected_at }) => ageOf(connected_at),
    optional: true,
  },
  {
    title: 'LAST USED',
    text: ({ last_used_at }) => last_used_at ?? '',
    short: ({ last_used_at }) => (last_used_at === null ? 'never' : `${ageOf(last_used_at)} ago`),
    optional: true,
  },
];

export function addConnectionCommands(connection: Command, terminal: Terminal): void {
  addExamples(
    connection,
    'connection list --account ACCOUNT_ID',
    'connection revoke --account ACCOUNT_ID --app APP_ID',
  );

  const list = connection
    .command('list')
    .requiredOption('--account <account-id>', 'the account')
    .option('--json', 'print JSON, as the API returns it')
    .description('list the applications with active grants of an account, by name')
    .action(({ account, ...options }) =>
      withCalls(terminal, READING, async ({ call }) => {
        const { data } = await call('admin.connections.list', { account_id: account });
        await printList(terminal, [data], options, columns);
      }),
    );
  addExamples(list, 'connection list --account ACCOUNT_ID');

  const revoke = connection
    .command('revoke')
    .requiredOption('--account <account-id>', 'the account')
    .requiredOption('--app <app-id>', 'the application')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON, as the API returns it')
    .description('end every grant and pending code of an account with an application, for good')
    .action(async ({ account, app, ...options }) => {
      const connection = { account_id: account, application_id: app };
      const { operationTable } = await import('../operations/operation-table.ts');
      const { ends } = operationTable['admin.connections.revoke'];
      await confirmEnding(terminal, ends, connection, options);
      const { cancelCodes } = await import('./revoke-grants.ts');
      await withCalls(terminal, CHANGING, async ({ call, service }) => {
        // The response of the operation does not have their number.
        if (service !== null) await cancelCodes(terminal, { call, service }, connection);
        const ended = await call('admin.connections.revoke', connection);
        const lines = ended.data.map(({ grant_id }) => `Grant ${grant_id} is revoked.`);
        lines.push(`${lines.length} grants are revoked.`);
        await terminal.stdout.write(`${options.json ? JSON.stringify(ended) : lines.join('\n')}\n`);
      });
    });
  addExamples(revoke, 'connection revoke --account ACCOUNT_ID --app APP_ID');
}
