import { createReadStream, existsSync, type ReadStream, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Milliseconds } from '@latchkey/domain/clock';
import type { Service } from '@latchkey/rules/service';
import { formatTimestamp } from '@latchkey/schema';
import type { ReplacedDatabase } from '@latchkey/store/backup';
import type { CommandChange } from '@latchkey/store/records';
import { LogCheck, type LogFindings } from '../restore/log-check.ts';
import {
  type AuditLine,
  auditLineOf,
  type LogCounts,
  readAuditLines,
} from '../restore/read-audit-lines.ts';
import { type RevokedAgain, revokeAgain } from '../restore/revoke-again.ts';
import { confirm } from './confirm.ts';
import { withService } from './open-for-command.ts';
import { print } from './print.ts';
import { inputOf, STDIN } from './stdin.ts';
import type { Terminal } from './terminal.ts';

export async function revokeAgainByLogs(
  terminal: Terminal,
  logs: readonly string[],
  { since, json, acceptGap, ...options }: RevokeAgainOptions,
): Promise<void> {
  refuseMissing(logs);
  const question = `End again all that was ended since ${formatTimestamp(since)}?`;
  await confirm(terminal, question, options);
  // The database may lack its last changes.
  const access = { create: false, incomplete: { since } };
  await withService(terminal, access, async ({ service }) => {
    const revoked = await revokeByLogs(
      terminal,
      service,
      { logs, since, acceptGap, replaced: null },
      (done) => `${describeCounts(done)} The rest is not known.`,
    );
    const object = { object: 'revoked_again', ...revoked };
    await print(terminal, json, object, describeRevoked(revoked));
  });
  // Until here, a run that fails leaves the database closed to everything else.
  await withService(terminal, { ...access, incomplete: 'revoked' }, async () => {});
}

interface RevokeAgainOptions {
  since: Milliseconds;
  acceptGap?: boolean;
  json?: boolean;
  yes?: boolean;
}

export interface LogsSince {
  logs: readonly string[];
  since: Milliseconds;
  /** Whether to go on although the logs lack something. */
  acceptGap: boolean | undefined;
  replaced: ReplacedDatabase | null;
}

export type RevokedByLogs = RevokedAgain & Pick<LogFindings, 'gaps' | 'unproven'>;

/**
 * @param whatIsDone - what to tell of a run that is refused
 * @throws Error if the logs have a gap that is not accepted
 */
export async function revokeByLogs(
  terminal: Terminal,
  service: Service,
  { logs, since, acceptGap = false, replaced }: LogsSince,
  whatIsDone: (done: RevokedAgain) => string,
): Promise<RevokedByLogs> {
  refuseMissing(logs);
  const { store } = service;
  const counter = await store.takeLogNumbers({ count: 0 });
  const check = new LogCheck(since);
  const waiting = replaced?.command_changes ?? [];
  for (const { number, at } of [...waiting, ...(await store.listCommandChanges(ALL))]) {
    check.seeNumber(number, at);
  }
  const revoked = await revokeAgain(service, linesOfAll(terminal, logs, check, waiting), since);
  const end = replaced?.log_number ?? null;
  const { gaps, unproven, highest } = check.findings({ counter, end });
  if (gaps.length > 0 && !acceptGap) throw gapError(gaps, whatIsDone(revoked));
  // The logs of today must not prove anything in a later restore.
  await store.takeLogNumbers({ count: 0, above: highest });
  return { ...revoked, gaps, unproven };
}

function refuseMissing(logs: readonly string[]): void {
  for (const log of logs) {
    if (log !== STDIN && !existsSync(log)) throw new Error(`There is no log ${log}.`);
  }
}

const ALL = Number.MAX_SAFE_INTEGER;

export function gapError(gaps: readonly string[], whatIsDone: string): Error {
  return new Error(
    `${gaps.join(' ')} What ended there would work again. ${whatIsDone} Give all logs since the backup, or go on with --accept-gap.`,
  );
}

async function* linesOfAll(
  terminal: Terminal,
  logs: readonly string[],
  check: LogCheck,
  waiting: readonly CommandChange[],
): AsyncGenerator<AuditLine> {
  for (const change of waiting) yield auditLineOf(change);
  const text = 'revoking again what the logs say';
  const files: ReadStream[] = [];
  const total = logs.reduce((sum, log) => sum + (log === STDIN ? 0 : statSync(log).size), 0);
  const read = () => files.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
  terminal.showStep?.(logs.includes(STDIN) ? { text } : { text, share: () => read() / total });
  for (const log of logs) {
    const counts: LogCounts = { lines: 0 };
    yield* readAuditLines(
      log === STDIN ? inputOf(terminal) : await openLog(log, files),
      counts,
      check,
    );
    if (counts.lines > 0) continue;
    // "Nothing to revoke" would look like success.
    throw new Error(
      `${log === STDIN ? 'The standard input' : log} contains no line of the service's log. Give the JSON lines that the service writes to stderr.`,
    );
  }
}

/** @param files - gets the file, to tell how much of it was read */
async function openLog(log: string, files: ReadStream[]): Promise<AsyncIterable<Buffer>> {
  const file = await open(log);
  const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
  await file.close();
  const isGzip = buffer.readUInt16BE() === 0x1f8b;
  const stream = createReadStream(log);
  files.push(stream);
  return isGzip ? pipeline(stream, createGunzip(), () => {}) : stream;
}

const labels: Record<Exclude<keyof RevokedAgain, 'calls' | 'for_operator'>, string> = {
  grants_revoked: 'grants revoked',
  codes_cancelled: 'codes cancelled',
  secrets_removed: 'secrets removed',
  applications_disabled: 'applications disabled',
  applications_deleted: 'applications deleted',
  accounts_erased: 'accounts erased',
  accounts_signed_out: 'accounts signed out',
  scopes_deleted: 'descriptions of scopes deleted',
  resources_deleted: 'resources deleted',
  documents_unpinned: 'documents unpinned',
  keys_deleted: 'keys deleted',
  endpoints_deleted: 'endpoints deleted',
  endpoints_disabled: 'endpoints disabled',
  endpoints_rotated: 'endpoints with their last secret again',
  lists_shortened: 'lists of redirect URIs or scopes shortened',
};

export function describeRevoked({ gaps, unproven, ...revoked }: RevokedByLogs): string {
  return [
    describeCounts(revoked),
    ...revoked.for_operator.map((text) => `TO DO: ${text}`),
    ...gaps.map((gap) => `GAP: ${gap}`),
    ...unproven.map((text) => `NOT PROVEN: ${text}`),
  ].join('\n');
}

function describeCounts({ calls, for_operator: _, ...counts }: RevokedAgain): string {
  const parts = Object.entries(labels).flatMap(([name, label]) => {
    const count = counts[name as keyof typeof counts];
    return count === 0 ? [] : [`${count} ${label}`];
  });
  return `Of ${calls} calls in the log since the backup: ${parts.join(', ') || 'nothing to revoke'}.`;
}
