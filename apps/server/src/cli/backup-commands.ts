import { type Command, Option } from 'commander';
import { addExamples } from './command-tree.ts';
import type { Terminal } from './terminal.ts';
import { parsePastTime } from './time-options.ts';

export function addBackupCommand(command: Command, terminal: Terminal): void {
  command
    .argument('<file>', 'the backup: a new file, or an earlier backup, which is replaced')
    .option('--json', 'print JSON')
    .action(async (file, options) => {
      const { backUpDatabase } = await import('./back-up.ts');
      await backUpDatabase(terminal, file, options);
    });
  addExamples(command, 'backup /var/backups/latchkey.db');
}

export function addRestoreCommand(command: Command, terminal: Terminal): void {
  command
    .argument('<file>', 'a backup of the SQLite database')
    .option('--log <file...>', 'logs since the backup (also .gz; - is stdin): see revoke-again')
    .option(
      '--since <iso>',
      'the time of a backup that `latchkey backup` did not make',
      parsePastTime,
    )
    .addOption(acceptingGaps())
    .option('--json', 'print JSON')
    .action(async (file, options) => {
      const { restoreDatabase } = await import('./restore-database.ts');
      await restoreDatabase(terminal, file, options, command);
    });
  addExamples(
    command,
    'restore /var/backups/latchkey.db --log /var/log/latchkey.log /var/log/latchkey.log.1.gz',
  );
}

export function addRevokeAgainCommand(command: Command, terminal: Terminal): void {
  command
    .argument('<log...>', 'logs of the service since the backup (also .gz; - is stdin)')
    .requiredOption(
      '--since <iso>',
      'the time of the backup, for example 2026-11-21T02:15:30Z',
      parsePastTime,
    )
    .addOption(acceptingGaps())
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .action(async (logs, options) => {
      const { revokeAgainByLogs } = await import('./revoke-by-logs.ts');
      await revokeAgainByLogs(terminal, logs, options);
    });
  addExamples(
    command,
    'revoke-again --since 2026-11-21T02:15:30Z /var/log/latchkey.log',
    'revoke-again --since 2026-11-21T02:15:30Z - < latchkey.log',
  );
}

const acceptingGaps = () =>
  new Option(
    '--accept-gap',
    'go on although the logs lack something: what ended there works again',
  );
