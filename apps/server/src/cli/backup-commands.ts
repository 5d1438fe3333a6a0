import { createReadStream, existsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { formatTimestamp } from '@latchkey/schema';
import { type Command, InvalidArgumentError } from 'commander';
import type { Milliseconds } from '../clock.ts';
import { closeService, openService } from '../open-service.ts';
import { type AuditLine, type LogCounts, readAuditLines } from '../restore/read-audit-lines.ts';
import { type RevokedAgain, revokeAgain } from '../restore/revoke-again.ts';
import type { Service } from '../service.ts';
import { loadSettings, refuseInMemory } from '../settings.ts';
import { sqlitePath } from '../store/open-store.ts';
import type { BackupContents } from '../store/sqlite/backup.ts';
import { commandLog } from './command-log.ts';
import { confirm } from './confirm.ts';
import { addExamples } from './examples.ts';
import { withService } from './run-operation.ts';
import { STDIN } from './stdin.ts';
import type { Terminal } from './terminal.ts';

export function addBackupCommands(program: Command, terminal: Terminal): void {
  const backingUp = program
    .command('backup')
    .argument('<file>', 'the backup: a new file, or an earlier backup, which is replaced')
    .option('--json', 'print JSON')
    .description('write a verified copy of the SQLite database, also while the service runs')
    .action((file, options) => backup(terminal, file, options));
  addExamples(backingUp, 'backup /var/backups/latchkey.db');

  const restoring = program
    .command('restore')
    .argument('<file>', 'a backup of the SQLite database')
    .option('--log <file...>', 'logs since the backup (also .gz; - is stdin): see revoke-again')
    .option('--since <iso>', 'the time of a backup that `latchkey backup` did not make', parseTime)
    .option('--json', 'print JSON')
    .description('put a backup in the place of the database, and revoke again what the log knows')
    .action((file, options, command) => restore(terminal, file, options, command));
  addExamples(
    restoring,
    'restore /var/backups/latchkey.db --log /var/log/latchkey.log /var/log/latchkey.log.1.gz',
  );

  const revokingAgain = program
    .command('revoke-again')
    .argument('<log...>', 'logs of the service since the backup (also .gz; - is stdin)')
    .requiredOption('--since <iso>', 'the time of the backup, as 2026-11-21T02:15:30Z', parseTime)
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .description('end again what the audit lines of a log ended since a backup')
    .action((logs, { since, json, yes }) =>
      // The database may have been restored from a backup of an earlier version.
      withService(terminal, { create: false, migrate: true }, async (service) => {
        const question = `End again all that was ended since ${formatTimestamp(since)}?`;
        await confirm(terminal, question, { yes });
        const revoked = await revokeByLogs(terminal, service, logs, since);
        const object = { object: 'revoked_again', ...revoked };
        await print(terminal, json, object, describeRevoked(revoked));
      }),
    );
  addExamples(
    revokingAgain,
    'revoke-again --since 2026-11-21T02:15:30Z /var/log/latchkey.log',
    'revoke-again --since 2026-11-21T02:15:30Z - < latchkey.log',
  );
}

function parseTime(text: string): Milliseconds {
  const time = Date.parse(text);
  if (Number.isNaN(time)) {
    throw new InvalidArgumentError('It must be a time such as 2026-11-21T02:15:30Z.');
  }
  return time;
}

async function backup(
  terminal: Terminal,
  file: string,
  { json }: { json?: boolean },
): Promise<void> {
  const path = databasePath(terminal, 'backed up');
  const { backUp } = await import('../store/sqlite/backup.ts');
  const contents = await backUp(path, file);
  const text = `${file} is a verified backup of ${path}: ${describeContents(contents)}.`;
  await print(terminal, json, { object: 'backup', file, ...onWire(contents) }, text);
}

async function restore(
  terminal: Terminal,
  file: string,
  { log: logs, since, json }: { log?: string[]; since?: Milliseconds; json?: boolean },
  command: Command,
): Promise<void> {
  const path = databasePath(terminal, 'restored');
  const { stageBackup } = await import('../store/sqlite/restore.ts');
  const staged = await stageBackup(file, path);
  try {
    const made_at = since ?? staged.contents.made_at;
    if (logs !== undefined && made_at === null) {
      command.error(
        `error: ${file} does not say when it was made. Add --since with a time that is not later, as --since 2026-11-21T02:15:30Z`,
      );
    }
    // Before the database is in its place: what was revoked never works there, even after a crash.
    const revoked =
      logs === undefined
        ? null
        : await withStaged(terminal, staged.path, (service) =>
            revokeByLogs(terminal, service, logs, made_at as Milliseconds),
          );
    const aside = await staged.putInPlace();
    const lines = [
      `${path} is restored from ${file}: ${describeContents(staged.contents)}.`,
      ...(aside === null ? [] : [`The files that were there are in ${aside}.`]),
      revoked === null
        ? `What was revoked after the backup WORKS AGAIN. Before the service is reachable, run: latchkey revoke-again --since ${made_at === null ? 'TIME-OF-THE-BACKUP' : formatTimestamp(made_at)} LOG…`
        : describeRevoked(revoked),
    ];
    const object = {
      object: 'restore',
      file,
      ...onWire(staged.contents),
      moved_to: aside,
      revoked_again: revoked,
    };
    await print(terminal, json, object, lines.join('\n'));
  } finally {
    staged.remove();
  }
}

/** @throws Error for a database that is not SQLite; BadSetting for one in memory */
function databasePath({ environment }: Terminal, verb: string): string {
  const settings = loadSettings(environment);
  refuseInMemory(settings);
  if (settings.databaseUrl.startsWith('file:')) return sqlitePath(settings.databaseUrl);
  throw new Error(
    `MongoDB is ${verb} with its own tools: a disk snapshot of the replica set, or ${verb === 'restored' ? 'mongorestore --oplogReplay, and then latchkey revoke-again' : 'mongodump --oplog'}. See docs/operations.md, "Back up MongoDB".`,
  );
}

async function withStaged<T>(
  terminal: Terminal,
  path: string,
  use: (service: Service) => Promise<T>,
): Promise<T> {
  const service = await openService(`file:${path}`, commandLog(terminal), { create: false });
  try {
    return await use(service);
  } finally {
    await closeService(service);
  }
}

async function revokeByLogs(
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
    // Better than "nothing was revoked", which would pass for the truth.
    throw new Error(
      `${log === STDIN ? 'The standard input' : log} has no line of the service's log. It takes the JSON lines that the service writes to stderr.`,
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

function describeContents({ bytes, schema_version, ...counts }: BackupContents): string {
  const { applications, accounts, grants, made_at } = counts;
  const time = made_at === null ? '' : `, made at ${formatTimestamp(made_at)}`;
  return `${applications} applications, ${accounts} accounts and ${grants} grants in ${bytes} bytes, schema version ${schema_version}${time}`;
}

const labels: Record<Exclude<keyof RevokedAgain, 'calls'>, string> = {
  grants_revoked: 'grants revoked',
  codes_cancelled: 'codes cancelled',
  secrets_removed: 'secrets removed',
  applications_disabled: 'applications disabled',
  applications_deleted: 'applications deleted',
  accounts_erased: 'accounts erased',
};

function describeRevoked({ calls, ...counts }: RevokedAgain): string {
  const parts = Object.entries(labels).flatMap(([name, label]) => {
    const count = counts[name as keyof typeof counts];
    return count === 0 ? [] : [`${count} ${label}`];
  });
  return `Of ${calls} calls in the log since the backup: ${parts.join(', ') || 'nothing to revoke'}.`;
}

const onWire = ({ made_at, ...contents }: BackupContents) => ({
  ...contents,
  made_at: made_at === null ? null : formatTimestamp(made_at),
});

async function print(
  { stdout }: Terminal,
  json: boolean | undefined,
  object: object,
  text: string,
): Promise<void> {
  await stdout.write(`${json ? JSON.stringify(object) : text}\n`);
}
