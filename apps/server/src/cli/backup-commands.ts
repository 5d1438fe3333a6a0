import { type Command, Option } from 'commander';
import { addExamples } from './examples.ts';
import type { Terminal } from './terminal.ts';
import { parsePastTime } from './time-options.ts';

export function addBackupCommands(program: Command, terminal: Terminal): void {
  const backingUp = program
    .command('backup')
    .argument('<file>', 'the backup: a new file, or an earlier backup, which is replaced')
    .option('--json', 'print JSON')
    .description('write a verified copy of the SQLite database, even while the service runs')
    .action(async (file, options) => {
      const { backUpDatabase } = await import('./back-up.ts');
      await backUpDatabase(terminal, file, options);
    });
  addExamples(backingUp, 'backup /var/backups/latchkey.db');

  const restoring = program
    .command('restore')
    .argument('<file>', 'a backup of the SQLite database')
    .option('--log <file...>', 'logs since the backup (also .gz; - is stdin): see revoke-again')
    .option(
      '--since <iso>',
      'the time of a backup that `latchkey backup` did not make',
      parsePastTime,
    )
    .addOption(acceptingGaps())
    .option('--json', 'print JSON')
    .description(
      'replace the database with a backup, and revoke again what the logs say was revoked',
    )
    .action(async (file, options, command) => {
      const { restoreDatabase } = await import('./restore-database.ts');
      await restoreDatabase(terminal, file, options, command);
    });
  addExamples(
    restoring,
    'restore /var/backups/latchkey.db --log /var/log/latchkey.log /var/log/latchkey.log.1.gz',
  );

  const revokingAgain = program
    .command('revoke-again')
    .argument('<log...>', 'logs of the service since the backup (also .gz; - is stdin)')
    .requiredOption(
      '--since <iso>',
      'the time of the backup, for example 2026-11-21T02:15:30Z',
      parsePastTime,
    )
    .addOption(acceptingGaps())
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .description('revoke again what the audit lines of logs say was revoked since a backup')
    .action(async (logs, options) => {
      const { revokeAgainByLogs } = await import('./revoke-by-logs.ts');
      await revokeAgainByLogs(terminal, logs, options);
    });
  addExamples(
    revokingAgain,
    'revoke-again --since 2026-11-21T02:15:30Z /var/log/latchkey.log',
    'revoke-again --since 2026-11-21T02:15:30Z - < latchkey.log',
  );
}

const acceptingGaps = () =>
  new Option(
    '--accept-gap',
    'go on although the logs lack something: what ended there works again',
  );
