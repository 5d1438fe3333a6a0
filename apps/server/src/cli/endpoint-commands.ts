import type { Endpoint } from '@latchkey/schema';
import { type Command, Option } from 'commander';
import { SHOWN_ONCE } from './app-commands.ts';
import { collect } from './app-options.ts';
import { describeDelivery } from './delivery-commands.ts';
import { addExamples } from './examples.ts';
import { listAll } from './list.ts';
import { runOperation } from './run-operation.ts';
import { type Column, fieldList } from './table.ts';
import type { Terminal } from './terminal.ts';
import { parsePastTime } from './time-options.ts';

const stateOf = ({ disabled_reason, failing_since }: Endpoint): string => {
  if (disabled_reason !== null) return `disabled (${disabled_reason})`;
  return failing_since === null ? 'enabled' : `failing since ${failing_since}`;
};
const toldOf = ({ types }: Endpoint) => types?.join(' ') ?? 'everything';
const ownerOf = ({ application_id }: Endpoint) => application_id ?? 'the host';

const columns: readonly Column<Endpoint>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'URL', text: ({ url }) => url, flexible: true },
  { title: 'STATE', text: stateOf, flexible: true },
  { title: 'OF', text: ownerOf, optional: true },
  { title: 'TYPES', text: toldOf, optional: true },
  { title: 'LAST SUCCESS', text: ({ last_success_at }) => last_success_at ?? '', optional: true },
];

const describeEndpoint = (endpoint: Endpoint) =>
  fieldList([
    ['id', endpoint.id],
    ['of', ownerOf(endpoint)],
    ['url', endpoint.url],
    ['types', toldOf(endpoint)],
    ['state', stateOf(endpoint)],
    ['created', endpoint.created_at],
    ['last success', endpoint.last_success_at ?? 'never'],
  ]);

const describeNew = ({ secret, ...endpoint }: Endpoint & { secret: string }) =>
  `${describeEndpoint(endpoint)}\n${SHOWN_ONCE}\n${secret}`;

const typeOption = () =>
  new Option('--type <type>', 'what it is told, such as grant.revoked; may be repeated').argParser(
    collect,
  );

export function addEndpointCommands(endpoint: Command, terminal: Terminal): void {
  addExamples(
    endpoint,
    'endpoint create https://app.example/latchkey-events --app APP_ID',
    'endpoint list',
  );

  const create = endpoint
    .command('create')
    .argument('<address>', 'its https: address')
    .option('--app <app-id>', 'the application that is told (default: the host)')
    .addOption(typeOption())
    .option('--json', 'print JSON, as the API returns it')
    .description('create an endpoint (an application can have 3, the host 5)')
    .action((address, { app, type, ...options }) =>
      runOperation(
        terminal,
        'admin.endpoints.create',
        {
          url: address,
          ...(app !== undefined && { application_id: app }),
          ...(type !== undefined && { types: type }),
        },
        options,
        describeNew,
      ),
    );
  addExamples(
    create,
    'endpoint create https://app.example/latchkey-events --app APP_ID',
    'endpoint create https://host.example/events --type grant.created --type grant.revoked',
  );

  const list = endpoint
    .command('list')
    .option('--app <app-id>', 'of this application')
    .option('--json', 'print JSON, as the API returns it')
    .description('list the endpoints, newest first')
    .action(({ app, ...options }) =>
      listAll(terminal, 'admin.endpoints.list', { application_id: app }, options, columns),
    );
  addExamples(list, 'endpoint list', 'endpoint list --app APP_ID');

  const get = endpoint
    .command('get')
    .argument('<id>', 'the endpoint')
    .option('--json', 'print JSON, as the API returns it')
    .description('print an endpoint')
    .action((endpoint_id, options) =>
      runOperation(terminal, 'admin.endpoints.get', { endpoint_id }, options, describeEndpoint),
    );
  addExamples(get, 'endpoint get ID');

  addUpdateCommand(endpoint, terminal);

  const remove = endpoint
    .command('delete')
    .argument('<id>', 'the endpoint')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON, as the API returns it')
    .description('delete an endpoint; what is pending is dropped, for good')
    .action(async (endpoint_id, options) => {
      await runOperation(
        terminal,
        'admin.endpoints.delete',
        { endpoint_id },
        options,
        ({ url }) => `The endpoint is deleted. It was: ${url}`,
      );
    });
  addExamples(remove, 'endpoint delete ID', 'endpoint delete ID --yes');

  const rotate = endpoint
    .command('rotate')
    .argument('<id>', 'the endpoint')
    .addOption(
      new Option(
        '--overlap <seconds>',
        'how long the old secret signs too: 0 to 604800 (default: 86400)',
      ).argParser(Number),
    )
    .option('--json', 'print JSON, as the API returns it')
    .description('create a new secret for an endpoint')
    .action((endpoint_id, { overlap, ...options }) =>
      runOperation(
        terminal,
        'admin.endpoints.rotate',
        { endpoint_id, ...(overlap !== undefined && { overlap_seconds: overlap }) },
        options,
        describeNew,
      ),
    );
  addExamples(rotate, 'endpoint rotate ID', 'endpoint rotate ID --overlap 0');

  const ping = endpoint
    .command('ping')
    .argument('<id>', 'the endpoint')
    .option('--json', 'print JSON, as the API returns it')
    .description('send a ping to an endpoint, and print the result')
    .action((endpoint_id, options) =>
      runOperation(terminal, 'admin.endpoints.ping', { endpoint_id }, options, describeDelivery),
    );
  addExamples(ping, 'endpoint ping ID');

  const replay = endpoint
    .command('replay')
    .argument('<id>', 'the endpoint')
    .requiredOption(
      '--since <iso>',
      'what ended from then on, for example 2026-11-21T02:15:30Z',
      parsePastTime,
    )
    .option('--json', 'print JSON, as the API returns it')
    .description('try again what was not delivered, 10,000 deliveries at a time')
    .action((endpoint_id, { since, ...options }) =>
      runOperation(
        terminal,
        'admin.endpoints.replay',
        { endpoint_id, since: new Date(since).toISOString() },
        options,
        ({ count }) => `Deliveries that are due again: ${count}`,
      ),
    );
  addExamples(replay, 'endpoint replay ID --since 2026-11-21T00:00:00Z');
}

function addUpdateCommand(endpoint: Command, terminal: Terminal): void {
  const update = endpoint
    .command('update')
    .argument('<id>', 'the endpoint')
    .option('--url <address>', 'its new https: address')
    .addOption(typeOption().conflicts('allTypes'))
    .option('--all-types', 'it is told of everything')
    .addOption(new Option('--enable', 'it is told again').conflicts('disable'))
    .option('--disable', 'it is told of nothing; what is pending is dropped')
    .option('--json', 'print JSON, as the API returns it')
    .description('change an endpoint; omitted options leave it unchanged')
    .action((endpoint_id, { url, type, allTypes, enable, disable, json }) => {
      const changes = {
        ...(url !== undefined && { url }),
        ...(type !== undefined && { types: type }),
        ...(allTypes && { types: null }),
        ...((enable || disable) && { disabled: disable === true }),
      };
      if (Object.keys(changes).length === 0) update.error('error: give at least one option');
      const { LATCHKEY_ADMIN_SECRET, LATCHKEY_ADMIN_SECRET_FILE } = terminal.environment;
      const isForServices = LATCHKEY_ADMIN_SECRET || LATCHKEY_ADMIN_SECRET_FILE;
      if (url !== undefined && isForServices && terminal.serviceUrl === undefined) {
        update.error(
          'error: here, --url is the new address of the endpoint. Name the service with --service. For the database, unset LATCHKEY_ADMIN_SECRET.',
        );
      }
      return runOperation(
        terminal,
        'admin.endpoints.update',
        { endpoint_id, ...changes },
        { json },
        describeEndpoint,
      );
    });
  addExamples(
    update,
    'endpoint update ID --url https://app.example/events',
    'endpoint update ID --type grant.revoked --enable',
    'endpoint update ID --disable --service https://link.example',
  );
}
