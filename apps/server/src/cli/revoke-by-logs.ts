import { createReadStream, existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { formatTimestamp } from '@latchkey/schema';
import type { Milliseconds } from '../clock.ts';
import { type AuditLine, type LogCounts, readAuditLines } from '../restore/read-audit-lines.ts';
import { type RevokedAgain, revokeAgain } from '../restore/revoke-again.ts';
import type { Service } from '../service.ts';
import { print } from './back-up.ts';
import { confirm } from './confirm.ts';
import { withService } from './run-operation.ts';
import { STDIN } from './stdin.ts';
import type { Terminal } from './terminal.ts';

export async function revokeAgainByLogs(
  terminal: Terminal,
  logs: readonly string[],
  { since, json, ...options }: { since: Milliseconds; json?: boolean; yes?: boolean },
): Promise<void> {
  // The database may have been restored from a backup of an earlier version.
  await withService(terminal, { create: false, migrate: true }, async ({ service }) => {
    const question = `End again all that was ended since ${formatTimestamp(since)}?`;
    await confirm(terminal, question, options);
    const revoked = await revokeByLogs(terminal, service, logs, since);
    const object = { object: 'revoked_again', ...revoked };
    await print(terminal, json, object, describeRevoked(revoked));
  });
}

export async function revokeByLogs(
  terminal: Terminal,
  service: Service,
  logs: readonly string[],
  since: Milliseconds,
): Promise<RevokedAgain> {
  for (const log of logs) {
    if (log !== STDIN && !existsSync(log)) throw new Error(`There is no log ${log}.`);
  }
  return revokeAgain(service, linesOfAll(terminal, logs), since);
}

async function* linesOfAll(
  { stdin }: Terminal,
  logs: readonly string[],
): AsyncGenerator<AuditLine> {
  for (const log of logs) {
    const counts: LogCounts = { lines: 0 };
    yield* readAuditLines(log === STDIN ? stdin : await openLog(log), counts);
    if (counts.lines > 0) continue;
    // "Nothing to revoke" would look like success.
    throw new Error(
      `${log === STDIN ? 'The standard input' : log} contains no line of the service's log. Give the JSON lines that the service writes to stderr.`,
    );
  }
}

async function openLog(log: string): Promise<AsyncIterable<Buffer>> {
  const file = await open(log);
  const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
  await file.close();
  const isGzip = buffer.readUInt16BE() === 0x1f8b;
  const stream = createReadStream(log);
  return isGzip ? pipeline(stream, createGunzip(), () => {}) : stream;
}

const labels: Record<Exclude<keyof RevokedAgain, 'calls'>, string> = {
  grants_revoked: 'grants revoked',
  codes_cancelled: 'codes cancelled',
  secrets_removed: 'secrets removed',
  applications_disabled: 'applications disabled',
  applications_deleted: 'applications deleted',
  accounts_erased: 'accounts erased',
  accounts_signed_out: 'accounts signed out',
};

export function describeRevoked({ calls, ...counts }: RevokedAgain): string {
  const parts = Object.entries(labels).flatMap(([name, label]) => {
    const count = counts[name as keyof typeof counts];
    return count === 0 ? [] : [`${count} ${label}`];
  });
  return `Of ${calls} calls in the log since the backup: ${parts.join(', ') || 'nothing to revoke'}.`;
}
