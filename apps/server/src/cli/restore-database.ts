import type { Milliseconds } from '@latchkey/domain/clock';
import type { Service } from '@latchkey/rules/service';
import { formatTimestamp } from '@latchkey/schema';
import type { Command } from 'commander';
import { closeService, eventsFrom, openService } from '../open-service.ts';
import { driverOf } from '../open-store.ts';
import { loadSettings } from '../settings.ts';
import { databaseUrl, describeContents, onWire } from './back-up.ts';
import { commandLog } from './command-log.ts';
import { print } from './print.ts';
import { describeRevoked, gapError, revokeByLogs } from './revoke-by-logs.ts';
import type { Terminal } from './terminal.ts';

interface RestoreOptions {
  log?: string[];
  since?: Milliseconds;
  acceptGap?: boolean;
  json?: boolean;
}

const NOTHING_CHANGED = 'Nothing was changed.';

export async function restoreDatabase(
  terminal: Terminal,
  file: string,
  { log: logs, since, acceptGap, json }: RestoreOptions,
  command: Command,
): Promise<void> {
  const url = databaseUrl(terminal);
  const staged = await driverOf(url).stageBackup(url, file, terminal.showStep);
  try {
    const made_at = since ?? staged.contents.made_at;
    if (logs !== undefined && made_at === null) {
      command.error(
        `error: ${file} does not say when it was made. Add --since with the time of the backup, or an earlier one. Example: --since 2026-11-21T02:15:30Z`,
      );
    }
    if (logs === undefined && !acceptGap) {
      throw gapError([`There is no log since ${describeTime(made_at)}.`], NOTHING_CHANGED);
    }
    const { replaced } = staged;
    // Before the database is put in place, so that nothing revoked ever works there, even after a
    // crash.
    const revoked =
      logs === undefined
        ? null
        : await withStaged(terminal, staged.url, made_at as Milliseconds, (service) =>
            revokeByLogs(
              terminal,
              service,
              { logs, since: made_at as Milliseconds, acceptGap, replaced },
              () => NOTHING_CHANGED,
            ),
          );
    terminal.showStep?.({ text: 'putting it in place' });
    const aside = await staged.putInPlace();
    const lines = [
      `${staged.database} is restored from ${file}: ${describeContents(staged.contents)}.`,
      ...(aside === null ? [] : [`The previous files are in ${aside}.`]),
      revoked === null
        ? `Everything that was revoked after the backup WORKS AGAIN. Before the service is reachable, run: latchkey revoke-again --since ${made_at === null ? 'TIME-OF-THE-BACKUP' : formatTimestamp(made_at)} LOG…`
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

const describeTime = (made_at: Milliseconds | null) =>
  made_at === null ? 'the backup' : formatTimestamp(made_at);

async function withStaged<T>(
  terminal: Terminal,
  url: string,
  since: Milliseconds,
  use: (service: Service) => Promise<T>,
): Promise<T> {
  // A backup has the mark of its database, which may have been copied since.
  // What is revoked again happened before. If the endpoints have secrets of another EVENTS_KEY, the
  // service says so when it starts.
  const events = eventsFrom(loadSettings(terminal.environment));
  const claim = {
    evenIfCopied: true,
    incomplete: { since },
    ...(events === null && { eventsKeys: null }),
  };
  // The process ends after this, so what is under way is completed first.
  const work = { waits: Number.POSITIVE_INFINITY };
  const options = { create: false, claim, counts: false, events, work };
  const service = await openService(url, commandLog(terminal), options);
  try {
    return await use(service);
  } finally {
    await closeService(service);
  }
}
