import type { Resource } from '@latchkey/schema';
import type { Command } from 'commander';
import { collect } from './app-options.ts';
import { addExamples } from './examples.ts';
import { printList } from './list.ts';
import { READING, runOperation, withCalls } from './run-operation.ts';
import { type Column, fieldList } from './table.ts';
import type { Terminal } from './terminal.ts';

const columns: readonly Column<Resource>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'RESOURCE', text: ({ resource }) => resource, flexible: true },
  { title: 'NAME', text: ({ name }) => name, flexible: true },
  { title: 'SCOPES', text: ({ scopes }) => scopes?.join(' ') ?? 'all', optional: true },
];

function describeResource(record: Resource): string {
  const { id, resource, name, scopes, default_scopes, created_at } = record;
  return fieldList([
    ['id', id],
    ['resource', resource],
    ['name', name],
    ['scopes', scopes?.join(' ') ?? 'all'],
    ['by default', default_scopes?.join(' ') ?? 'those of the application'],
    ['created', created_at],
  ]);
}

interface ResourceOptions {
  scope?: string[];
  defaultScope?: string[];
}

const addScopeOptions = (command: Command) =>
  command
    .option('--scope <scope>', 'a scope that can be asked for; may be repeated', collect)
    .option(
      '--default-scope <scope>',
      'a scope of a request that names none; may be repeated',
      collect,
    );

const membersFrom = ({ scope, defaultScope }: ResourceOptions) => ({
  ...(scope !== undefined && { scopes: scope }),
  ...(defaultScope !== undefined && { default_scopes: defaultScope }),
});

export function addResourceCommands(resource: Command, terminal: Terminal): void {
  addExamples(
    resource,
    'resource create https://mcp.example/mcp --name Notes --scope notes.read',
    'resource list',
  );

  const create = addScopeOptions(
    resource
      .command('create')
      .argument('<url>', 'its address')
      .requiredOption('--name <name>', 'the name on the consent page')
      .option('--json', 'print JSON, as the API returns it')
      .description('register a server that grants can be for'),
  ).action((url, { name, json, ...options }) =>
    runOperation(
      terminal,
      'admin.resources.create',
      { resource: url, name, ...membersFrom(options) },
      { json },
      describeResource,
    ),
  );
  addExamples(
    create,
    'resource create https://mcp.example/mcp --name Notes',
    'resource create https://mcp.example/mcp --name Notes --scope notes.read --scope notes.write --default-scope notes.read',
  );

  const list = resource
    .command('list')
    .option('--json', 'print JSON, as the API returns it')
    .description('list all resources, by address')
    .action((options) =>
      withCalls(terminal, READING, async ({ call }) => {
        const { data } = await call('admin.resources.list', {});
        await printList(terminal, [data], options, columns);
      }),
    );
  addExamples(list, 'resource list');

  const update = addScopeOptions(
    resource
      .command('update')
      .argument('<id>', 'the resource')
      .option('--name <name>', 'the name on the consent page')
      .option('--all-scopes', 'every described scope can be asked for')
      .option('--no-default-scopes', 'a request without scope asks for those of the application')
      .option('--json', 'print JSON, as the API returns it')
      .description('change a resource; omitted options leave it unchanged'),
  ).action((resource_id, { name, allScopes, defaultScopes, json, ...options }) => {
    const changes = {
      ...(name !== undefined && { name }),
      ...(allScopes && { scopes: null }),
      ...(defaultScopes === false && { default_scopes: null }),
      ...membersFrom(options),
    };
    if (Object.keys(changes).length === 0) update.error('error: give at least one option');
    return runOperation(
      terminal,
      'admin.resources.update',
      { resource_id, ...changes },
      { json },
      describeResource,
    );
  });
  addExamples(
    update,
    'resource update ID --name Notes --all-scopes',
    'resource update ID --scope notes.read --no-default-scopes',
  );

  const remove = resource
    .command('delete')
    .argument('<id>', 'the resource')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON, as the API returns it')
    .description('delete a resource; nobody can ask for it any more, and grants stay')
    .action((resource_id, options) =>
      runOperation(
        terminal,
        'admin.resources.delete',
        { resource_id },
        options,
        (deleted) => `The resource ${deleted.resource} is deleted. It was: ${deleted.name}`,
      ),
    );
  addExamples(remove, 'resource delete ID', 'resource delete ID --yes');
}
