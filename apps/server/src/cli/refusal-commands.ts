import type { Refusal } from '@latchkey/schema';
import { type Command, Option } from 'commander';
import { describeActor, type KeyNames, keyText, namesOfKeys } from './actor.ts';
import { ageOf } from './age.ts';
import { READING, withCalls } from './calls.ts';
import { addExamples } from './command-tree.ts';
import { pagesOf, printList } from './list.ts';
import type { CallAsOperator } from './open-for-command.ts';
import type { Column } from './table.ts';
import type { Terminal } from './terminal.ts';
import { parseSince } from './time-options.ts';

const NOTHING_ON_RECORD = `There is no refusal with this request id on record. Either the request was not refused, or its path or method belongs to no operation, or it is older than AUDIT_DAYS, or too many refusals came at once, or the process ended within about a second, before it wrote the refusal.
Search the log of the service for the request id: each request has a line with "msg":"request", and each call that changed something or was refused has one with "msg":"audit".`;

// A caller may send the same id with all of its requests.
const MAX_EXPLAINED = 20;

export function addExplainCommand(command: Command, terminal: Terminal): void {
  command
    .argument('<request-id>', 'the X-Request-Id of a response, or the request_id of an error')
    .option('--json', 'print JSON, as the API returns it')
    .action((request_id, { json }) =>
      withCalls(terminal, READING, async ({ call }) => {
        const asked = { request_id, limit: MAX_EXPLAINED };
        const refusals = await call('admin.refusals.list', asked);
        if (refusals.data.length === 0) throw new Error(NOTHING_ON_RECORD);
        const text = json
          ? JSON.stringify(refusals)
          : describeRefusals(refusals.data, await namesOfKeys(call, refusals.data));
        await terminal.stdout.write(`${text}\n`);
      }),
    );
  addExamples(command, 'explain REQUEST_ID');
}

const describeRefusals = (refusals: readonly Refusal[], keyNames: KeyNames) =>
  refusals.map((refusal) => describeRefusal(refusal, keyNames)).join('\n\n');

function describeRefusal(refusal: Refusal, keyNames: KeyNames): string {
  const { at, operation, error_code, reason, found, advice, grant_id, account_id } = refusal;
  const about = [
    ...(grant_id === null ? [] : [`grant ${grant_id}`]),
    ...(account_id === null ? [] : [`account ${account_id}`]),
  ].join(' of ');
  return [
    `${at}  ${operation} was refused with ${error_code}${reason === null ? '' : ` (${reason})`}`,
    `${describeActor(refusal, keyNames)}${about === '' ? '' : `, about ${about}`}`,
    `What was found: ${found}`,
    `What to do: ${advice}`,
  ].join('\n');
}

type ListedRefusal = Refusal & { key: string };

const columns: readonly Column<ListedRefusal>[] = [
  { title: 'AGE', text: ({ at }) => at, short: ({ at }) => ageOf(at) },
  { title: 'REQUEST', text: ({ request_id }) => request_id },
  { title: 'OPERATION', text: ({ operation }) => operation, flexible: true },
  { title: 'ERROR', text: ({ error_code }) => error_code, flexible: true },
  { title: 'REASON', text: ({ reason }) => reason ?? '', optional: true },
  { title: 'GRANT', text: ({ grant_id }) => grant_id ?? '', optional: true },
  { title: 'APPLICATION', text: ({ application_id }) => application_id ?? '', optional: true },
  { title: 'ACCOUNT', text: ({ account_id }) => account_id ?? '', optional: true },
  { title: 'BY', text: ({ by }) => by ?? '', optional: true },
  { title: 'KEY', text: ({ key }) => key, optional: true },
  { title: 'ADDRESS', text: ({ address }) => address ?? '', optional: true },
];

export function addRefusalsCommand(command: Command, terminal: Terminal): void {
  command
    .addOption(new Option('--app <app-id>', 'of this application').conflicts(['account', 'grant']))
    .addOption(new Option('--account <account-id>', 'about this account').conflicts('grant'))
    .option('--grant <grant-id>', 'about this grant')
    .option('--since <iso>', 'from then on, for example 2026-11-21T02:15:30Z', parseSince)
    .option('--json', 'print JSON, as the API returns it')
    .action(({ app, account, grant, since, ...options }) =>
      withCalls(terminal, READING, async ({ call }) => {
        const pages = pagesOf(call, 'admin.refusals.list', {
          application_id: app,
          account_id: account,
          grant_id: grant,
          since,
        });
        if (options.json) await printList(terminal, pages, options, []);
        else await printList(terminal, withKeys(call, pages), options, columns);
      }),
    );
  addExamples(
    command,
    'refusals --account ACCOUNT_ID',
    'refusals --app APP_ID --since 2026-11-21T00:00:00Z',
  );
}

async function* withKeys(
  call: CallAsOperator,
  pages: AsyncIterable<Refusal[]>,
): AsyncGenerator<ListedRefusal[]> {
  let keyNames: KeyNames | undefined;
  for await (const page of pages) {
    const listed: ListedRefusal[] = [];
    for (const refusal of page) {
      const { key_id } = refusal;
      if (key_id !== null) keyNames ??= await namesOfKeys(call, page);
      listed.push({ ...refusal, key: key_id && keyNames ? keyText(key_id, keyNames) : '' });
    }
    yield listed;
  }
}
