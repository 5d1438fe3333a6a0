import type { Command } from 'commander';
import type { Explanation } from '../audit/explain.ts';
import type { GrantReport, HistoryEntry } from '../audit/grant-history.ts';
import type { Actor } from '../initiator.ts';
import type { Service } from '../service.ts';
import { addExamples } from './examples.ts';
import { READING, withService } from './run-operation.ts';
import type { Terminal } from './terminal.ts';

const NOTHING_ON_RECORD = `There is no refusal with this request id in the database. Either the request was not refused, or its path or method belongs to no operation, or it is older than AUDIT_DAYS, or too many refusals came at once, or the process ended within about a second, before it wrote the refusal.
Search the log of the service for the request id: each request has a line with "msg":"request", and each call that changed something or was refused has one with "msg":"audit".`;

export function addExplainCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('explain')
    .argument('<request-id>', 'the X-Request-Id of a response, or the request_id of an error')
    .option('--json', 'print JSON')
    .description('say which check refused a request, and what to do')
    .action((request_id, options) => explain(terminal, request_id, options));
  addExamples(command, 'explain REQUEST_ID');
}

async function explain(
  terminal: Terminal,
  request_id: string,
  options: { json?: boolean },
): Promise<void> {
  const { explainRequest } = await import('../audit/explain.ts');
  const { redactorFor } = await import('../log/log.ts');
  await withService(terminal, READING, async ({ service, settings }) => {
    // Stored request ids are redacted, so an id that contains a credential is found only redacted.
    const data = await explainRequest(service.store, redactorFor(settings)(request_id));
    if (data.length === 0) throw new Error(NOTHING_ON_RECORD);
    const text = options.json
      ? JSON.stringify({ object: 'list', data })
      : describeRefusals(data, await namesOfKeys(service));
    await terminal.stdout.write(`${text}\n`);
  });
}

const describeRefusals = (refusals: readonly Explanation[], keyNames: KeyNames) =>
  refusals.map((refusal) => describeRefusal(refusal, keyNames)).join('\n\n');

function describeRefusal(refusal: Explanation, keyNames: KeyNames): string {
  const { at, operation, error_code, reason, found, advice, grant_id } = refusal;
  return [
    `${at}  ${operation} was refused with ${error_code}${reason === null ? '' : ` (${reason})`}`,
    `${describeActor(refusal, keyNames)}${grant_id === null ? '' : `, about grant ${grant_id}`}`,
    `What was found: ${found}`,
    `What to do: ${advice}`,
  ].join('\n');
}

export function addHistoryCommand(grant: Command, terminal: Terminal): void {
  const command = grant
    .command('history')
    .argument('<grant-id>', 'the grant, or the grant that a code would become')
    .option('--json', 'print JSON')
    .description('print what happened to a grant, and which calls about it were refused')
    .action((grant_id, options) => printHistory(terminal, grant_id, options));
  addExamples(command, 'grant history GRANT_ID');
}

async function printHistory(
  terminal: Terminal,
  id: string,
  options: { json?: boolean },
): Promise<void> {
  const { inputs } = await import('@latchkey/schema');
  const { reportGrant } = await import('../audit/grant-history.ts');
  const { validate } = await import('../operations/input.ts');
  await withService(terminal, READING, async ({ service }) => {
    const { grant_id } = validate(inputs.grantIdInput, { grant_id: id }) as { grant_id: string };
    const report = await reportGrant(service.store, grant_id);
    const text = options.json
      ? JSON.stringify(report)
      : describeReport(report, await namesOfKeys(service));
    await terminal.stdout.write(`${text}\n`);
  });
}

function describeReport(
  { application_id, account_id, recoveries, data }: GrantReport,
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
  { at, what, result, reason, request_id, ...who }: HistoryEntry,
  keyNames: KeyNames,
): string {
  const outcome = reason === null ? result : `${result} (${reason})`;
  // A change without an actor is older than the recording of actors. A refusal without one had an
  // unauthenticated caller.
  const nobody = reason === null ? 'actor unknown' : 'by itself';
  const actor = result === 'done' && who.by === null ? nobody : describeActor(who, keyNames);
  const request = request_id === null ? '' : `  request ${request_id}`;
  return `${at}  ${what}: ${outcome}  ${actor}${request}`;
}

type KeyNames = ReadonlyMap<string, string>;

/** A deleted key has no name any more. */
async function namesOfKeys({ store }: Pick<Service, 'store'>): Promise<KeyNames> {
  return new Map((await store.listKeys()).map(({ id, name }) => [id, name]));
}

interface Who {
  by: Actor | null;
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
      const name = keyNames.get(key_id ?? '');
      const which = name === undefined ? key_id : `${name} (${key_id})`;
      return `by the operator${which === null ? '' : ` with the key ${which}`}${from}`;
    }
    case 'command_line':
      return os_user == null ? 'on the command line' : `on the command line, by ${os_user}`;
    case 'user':
      return `by the user on a page${from}`;
  }
}
