import type { GrantHistory, GrantHistoryEntry, Refusal } from '@latchkey/schema';
import { type Command, Option } from 'commander';
import { ageOf } from './age.ts';
import { addExamples } from './examples.ts';
import { pagesOf, printList } from './list.ts';
import type { CallAsOperator } from './open-for-command.ts';
import { READING, withCalls } from './run-operation.ts';
import type { Column } from './table.ts';
import type { Terminal } from './terminal.ts';
import { parsePastTime } from './time-options.ts';

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
    .option('--since <iso>', 'from then on, for example 2026-11-21T02:15:30Z', parsePastTime)
    .option('--json', 'print JSON, as the API returns it')
    .action(({ app, account, grant, since, ...options }) =>
      withCalls(terminal, READING, async ({ call }) => {
        const pages = pagesOf(call, 'admin.refusals.list', {
          ...{ application_id: app, account_id: account, grant_id: grant },
          ...(since !== undefined && { since: new Date(since).toISOString() }),
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

export function addHistoryCommand(grant: Command, terminal: Terminal): void {
  const command = grant
    .command('history')
    .argument('<grant-id>', 'the grant, or the grant that a code would become')
    .option('--json', 'print JSON, as the API returns it')
    .description('print what happened to a grant, and which calls about it were refused')
    .action((grant_id, { json }) =>
      withCalls(terminal, READING, async ({ call }) => {
        const history = await call('admin.grants.history', { grant_id });
        const text = json
          ? JSON.stringify(history)
          : describeHistory(history, await namesOfKeys(call, history.data));
        await terminal.stdout.write(`${text}\n`);
      }),
    );
  addExamples(command, 'grant history GRANT_ID');
}

function describeHistory(
  { application_id, account_id, recoveries, data }: GrantHistory,
  keyNames: KeyNames,
): string {
  const whose =
    application_id === null
      ? 'There is no record of this grant, only of refused calls about it.'
      : `Application ${application_id}, account ${account_id}.`;
  const last = recoveries > 1 ? [`Recovered ${recoveries} times; the last one is shown.`] : [];
  return [whose, ...last, ...data.map((entry) => describeEntry(entry, keyNames))].join('\n');
}

function describeEntry(
  { at, what, result, reason, request_id, ...who }: GrantHistoryEntry,
  keyNames: KeyNames,
): string {
  const outcome = reason === null ? result : `${result} (${reason})`;
  // A change without an actor is older than the recording of actors. A refusal without one had an
  // unauthenticated caller.
  const nobody = reason === 'idle' ? 'by itself' : 'actor unknown';
  const actor = result === 'done' && who.by === null ? nobody : describeActor(who, keyNames);
  const request = request_id === null ? '' : `  request ${request_id}`;
  return `${at}  ${what}: ${outcome}  ${actor}${request}`;
}

type KeyNames = ReadonlyMap<string, string>;

/** Those that the caller may know. A deleted key has no name any more. */
async function namesOfKeys(
  call: CallAsOperator,
  entries: readonly { key_id: string | null }[],
): Promise<KeyNames> {
  if (entries.every(({ key_id }) => key_id === null)) return new Map();
  // Tells what a refused call would tell, and a refusal would be stored.
  const self = await call('admin.self.get', {});
  if (self.may.includes('admin.keys.list')) {
    const { data } = await call('admin.keys.list', {});
    return new Map(data.map(({ id, name }) => [id, name]));
  }
  return new Map(self.key_id !== null && self.name !== null ? [[self.key_id, self.name]] : []);
}

function keyText(key_id: string, keyNames: KeyNames): string {
  const name = keyNames.get(key_id);
  return name === undefined ? key_id : `${name} (${key_id})`;
}

interface Who {
  by: Refusal['by'];
  application_id: string | null;
  secret_id?: string | null;
  key_id: string | null;
  address: string | null;
  os_user?: string | null;
}

function describeActor(who: Who, keyNames: KeyNames): string {
  const { by, application_id, secret_id, key_id, address, os_user } = who;
  const from = address === null ? '' : ` from ${address}`;
  switch (by) {
    case null: {
      const claimed = application_id === null ? '' : `, as application ${application_id}`;
      return `by an unauthenticated caller${claimed}${from}`;
    }
    case 'application': {
      const which = application_id === null ? 'the application' : `application ${application_id}`;
      const secret = secret_id == null ? '' : ` with its secret ${secret_id}`;
      return `by ${which}${secret}${from}`;
    }
    case 'grant':
      return `with the secret of the grant${from}`;
    case 'operator': {
      const which = key_id === null ? '' : ` with the key ${keyText(key_id, keyNames)}`;
      return `by the operator${which}${from}`;
    }
    case 'command_line':
      return os_user == null ? 'on the command line' : `on the command line, by ${os_user}`;
    case 'user':
      return `by the user on a page${from}`;
  }
}
