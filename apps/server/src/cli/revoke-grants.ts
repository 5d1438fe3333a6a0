import { DomainError } from '@latchkey/domain/domain-error';
import { isUuid, type RevokedGrant } from '@latchkey/schema';
import type { Parties } from '@latchkey/store/store';
import { CHANGING, withCalls } from './calls.ts';
import { confirmEnding } from './confirm.ts';
import { afterParts, messageOf } from './error-texts.ts';
import type { CallAsOperator } from './open-for-command.ts';
import { operationRows } from './operation-rows.ts';
import { areEnded, restOf } from './rest-of-work.ts';
import { linesOf, STDIN } from './stdin.ts';
import type { Terminal } from './terminal.ts';

export interface RevokeOptions {
  account?: string;
  app?: string;
  yes?: boolean;
  json?: boolean;
}

export async function revokeGrants(
  terminal: Terminal,
  ids: string[],
  options: RevokeOptions,
): Promise<void> {
  const readsStdin = ids.length === 1 && ids[0] === STDIN;
  if (!readsStdin) refuseIllFormed(ids);
  await withCalls(terminal, CHANGING, async ({ call }) => {
    const grants = await describeGrants(call, ids, options);
    if (!readsStdin) {
      const { ends } =
        operationRows[ids.length === 1 ? 'admin.grants.revoke' : 'admin.grants.revokeAll'];
      await confirmEnding(terminal, ends, { grants, grant_id: ids[0] }, options);
    }
    const parties = partiesIn(options);
    if (parties === null) {
      const given = readsStdin ? firstWords(terminal) : ids;
      return revokeAll(terminal, call, given, options);
    }
    await revokeParties(terminal, call, parties, options);
  });
}

/** An account or an application. */
type EveryGrantOf = { account_id: string } | { application_id: string };

const partiesIn = ({ account, app }: RevokeOptions): (Parties & EveryGrantOf) | null =>
  account !== undefined
    ? { account_id: account }
    : app !== undefined
      ? { application_id: app }
      : null;

/** The service counts them, and names none. */
async function revokeParties(
  { stdout, stderr }: Terminal,
  call: CallAsOperator,
  parties: EveryGrantOf,
  { json }: RevokeOptions,
): Promise<void> {
  const ended = await call('admin.grants.revokeAll', parties);
  const { state, grants_revoked, codes_cancelled } = ended;
  if (!json && codes_cancelled > 0) {
    stderr.write(`${areEnded(codes_cancelled, 'pending code', 'cancelled')}\n`);
  }
  const text = json
    ? JSON.stringify(ended)
    : areEnded(grants_revoked, 'grant', 'revoked') + restOf(state);
  await stdout.write(`${text}\n`);
}

function refuseIllFormed(ids: readonly string[]): void {
  const issues = ids.flatMap((id, index) =>
    isUuid(id) ? [] : [{ path: ['grant_id', index], message: 'Must be a UUID.' }],
  );
  if (issues.length > 0) throw new DomainError('parameter_invalid', { issues });
}

/** A missing account or application is an error: its id is probably mistyped. */
async function describeGrants(
  call: CallAsOperator,
  ids: readonly string[],
  { account, app }: RevokeOptions,
): Promise<string> {
  if (account !== undefined) {
    const { username } = await call('admin.accounts.get', { account_id: account });
    return `every grant and every pending code of the account ${username} (${account})`;
  }
  if (app !== undefined) {
    const { name } = await call('admin.applications.get', { application_id: app });
    return `every grant and every pending code of the application ${name} (${app})`;
  }
  return `${ids.length} grants`;
}

// Simultaneous writes share a wait for the disk. On MongoDB each takes up to two of the 100
// connections of the pool: for the grant and for the audit.
const AT_ONCE = 50;

async function* batchesOf(ids: AsyncIterable<string> | Iterable<string>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const id of ids) {
    batch.push(id);
    if (batch.length < AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Accepts what `grant list` prints to a pipe. */
async function* firstWords(terminal: Terminal): AsyncGenerator<string> {
  for await (const line of linesOf(terminal)) {
    const [word = ''] = line.trim().split(/\s/);
    if (word !== '') yield word;
  }
}

async function revokeAll(
  terminal: Terminal,
  call: CallAsOperator,
  ids: AsyncIterable<string> | Iterable<string>,
  { json }: RevokeOptions,
): Promise<void> {
  const { stdout, stderr } = terminal;
  let asked = 0;
  let done = 0;
  let only: Error | undefined;
  for await (const batch of batchesOf(ids)) {
    const outcomes = await Promise.all(batch.map((id) => revokeOne(call, id)));
    asked += batch.length;
    const revoked = outcomes.flatMap((outcome) => (outcome instanceof Error ? [] : [outcome]));
    done += revoked.length;
    const lines = revoked.map((grant) =>
      json ? `${JSON.stringify(grant)}\n` : `Grant ${grant.grant_id} is revoked.\n`,
    );
    // Continues even if nobody reads the output.
    await stdout.write(lines.join(''));
    for (const [index, outcome] of outcomes.entries()) {
      if (!(outcome instanceof Error)) continue;
      only = outcome;
      if (!concernsOne(outcome)) {
        throw done === 0 ? outcome : afterParts(areEnded(done, 'grant', 'revoked'), outcome);
      }
      if (asked > 1)
        stderr.write(`number ${asked - batch.length + index + 1}: ${messageOf(outcome)}`);
    }
  }
  if (only !== undefined && asked === 1) throw only;
  if (only !== undefined) {
    throw new Error(
      `${asked - done} of ${asked} grants were not revoked. The messages above say why.`,
    );
  }
  if (!json && asked !== 1) await stdout.write(`${areEnded(done, 'grant', 'revoked')}\n`);
}

async function revokeOne(call: CallAsOperator, grant_id: string): Promise<RevokedGrant | Error> {
  try {
    return await call('admin.grants.revoke', { grant_id });
  } catch (error) {
    // Over the wire, there are errors that the service did not send.
    return error instanceof Error ? error : DomainError.from(error);
  }
}

function concernsOne(error: Error): boolean {
  const { code } = DomainError.from(error);
  return code === 'grant_not_found' || code === 'parameter_invalid';
}
