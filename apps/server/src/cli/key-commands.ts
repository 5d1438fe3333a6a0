import type { Key } from '@latchkey/schema';
import type { Command } from 'commander';
import { SHOWN_ONCE } from './app-commands.ts';
import { addExamples } from './examples.ts';
import { printList } from './list.ts';
import { READING, runOperation, withCalls } from './run-operation.ts';
import type { Column } from './table.ts';
import type { Terminal } from './terminal.ts';

const columns: readonly Column<Key>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'NAME', text: ({ name }) => name, flexible: true },
  { title: 'ROLE', text: ({ role }) => role },
  { title: 'KEY', text: ({ hint }) => hint, optional: true },
  { title: 'EXPIRES', text: ({ expires_at }) => expires_at ?? 'never', optional: true },
  { title: 'LAST USED', text: ({ last_used_at }) => last_used_at ?? 'never', optional: true },
];

export function addKeyCommands(key: Command, terminal: Terminal): void {
  addExamples(key, "key create 'Sign-in page' --role host", 'key list');

  const create = key
    .command('create')
    .argument('<name>', 'who or what uses it')
    .requiredOption('--role <role>', 'what it may do: read, host, support or operate')
    .option('--expires <iso>', 'when it stops working, for example 2027-01-31T00:00:00Z')
    .option('--json', 'print JSON, as the API returns it')
    .description('create a key (there can be 50 that work)')
    .action((name, { role, expires, ...options }) =>
      runOperation(
        terminal,
        'admin.keys.create',
        { name, role, ...(expires !== undefined && { expires_at: expires }) },
        options,
        (made) => `${made.id}  ${made.hint}  role ${made.role}\n${SHOWN_ONCE}\n${made.secret}`,
      ),
    );
  addExamples(
    create,
    "key create 'Sign-in page' --role host",
    'key create Ada --role support --expires 2027-01-31T00:00:00Z',
  );

  const list = key
    .command('list')
    .option('--json', 'print JSON, as the API returns it')
    .description('list all keys, newest first')
    .action((options) =>
      withCalls(terminal, READING, async ({ call }) => {
        const { data } = await call('admin.keys.list', {});
        await printList(terminal, [data], options, columns);
      }),
    );
  addExamples(list, 'key list');

  const remove = key
    .command('delete')
    .argument('<id>', 'the id of the key, as `key list` shows it')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON, as the API returns it')
    .description('delete a key; it stops working at once, for good')
    .action((key_id, options) =>
      runOperation(
        terminal,
        'admin.keys.delete',
        { key_id },
        options,
        ({ name, role }) => `The key is deleted. It was: ${name}, role ${role}`,
      ),
    );
  addExamples(remove, 'key delete KEY_ID', 'key delete KEY_ID --yes');
}
