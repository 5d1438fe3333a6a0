import type { Delivery } from '@latchkey/schema';
import { type Command, Option } from 'commander';
import { ageOf } from './age.ts';
import { addExamples } from './examples.ts';
import { listAll } from './list.ts';
import { runOperation } from './run-operation.ts';
import { type Column, fieldList } from './table.ts';
import type { Terminal } from './terminal.ts';

type Attempt = Delivery['attempts'][number];

const resultOf = ({ result, status_code }: Attempt) =>
  status_code === null ? result : `${result} (${status_code})`;

function lastResultOf({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  return last === undefined ? '' : resultOf(last);
}

const columns: readonly Column<Delivery>[] = [
  { title: 'DELIVERY', text: ({ id }) => id },
  { title: 'TYPE', text: ({ type }) => type },
  { title: 'STATUS', text: ({ status }) => status },
  { title: 'LAST TRY', text: lastResultOf, flexible: true },
  {
    title: 'AGE',
    text: ({ created_at }) => created_at,
    short: ({ created_at }) => ageOf(created_at),
    optional: true,
  },
  { title: 'NEXT TRY', text: ({ next_attempt_at }) => next_attempt_at ?? '', optional: true },
  { title: 'ENDPOINT', text: ({ endpoint_id }) => endpoint_id, optional: true },
  { title: 'GRANT', text: ({ grant_id }) => grant_id ?? '', optional: true },
  { title: 'ACCOUNT', text: ({ account_id }) => account_id ?? '', optional: true },
  { title: 'EVENT', text: ({ event_id }) => event_id, optional: true },
];

export const describeDelivery = (delivery: Delivery): string =>
  fieldList([
    ['id', delivery.id],
    ['endpoint', delivery.endpoint_id],
    ['type', delivery.type],
    ['status', delivery.status],
    ['next try', delivery.next_attempt_at ?? 'none'],
    ...delivery.attempts.map(
      (attempt) =>
        ['try', `${attempt.at}  ${resultOf(attempt)} after ${attempt.duration_ms} ms`] as const,
    ),
  ]);

export function addDeliveryCommands(delivery: Command, terminal: Terminal): void {
  addExamples(delivery, 'delivery list --endpoint ENDPOINT_ID', 'delivery retry ID');

  const list = delivery
    .command('list')
    .addOption(new Option('--endpoint <endpoint-id>', 'to this endpoint').conflicts('grant'))
    .option('--grant <grant-id>', 'about this grant')
    .option('--status <status>', 'only pending, delivered, failed or dropped ones')
    .option('--json', 'print JSON, as the API returns it')
    .description('list the deliveries to an endpoint or about a grant, newest first')
    .action(({ endpoint, grant, status, ...options }, command: Command) => {
      if (endpoint === undefined && grant === undefined) {
        command.error("error: one of '--endpoint' and '--grant' is required");
      }
      return listAll(
        terminal,
        'admin.deliveries.list',
        {
          ...{ endpoint_id: endpoint, grant_id: grant },
          ...(status !== undefined && { status }),
        },
        options,
        columns,
      );
    });
  addExamples(
    list,
    'delivery list --endpoint ENDPOINT_ID --status failed',
    'delivery list --grant GRANT_ID',
  );

  const retry = delivery
    .command('retry')
    .argument('<id>', 'the delivery')
    .option('--json', 'print JSON, as the API returns it')
    .description('retry a delivery that has ended, or waits for a later try')
    .action((delivery_id, options) =>
      runOperation(terminal, 'admin.deliveries.retry', { delivery_id }, options, describeDelivery),
    );
  addExamples(retry, 'delivery retry ID');
}
