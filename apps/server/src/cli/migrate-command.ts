import type { Migration, MigrationPlan } from '@latchkey/store/schema-version';
import type { Command } from 'commander';
import { confirm } from './confirm.ts';
import { addExamples } from './examples.ts';
import type { Terminal } from './terminal.ts';

interface MigrateOptions {
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

export function addMigrateCommand(command: Command, terminal: Terminal): void {
  command
    .option('--dry-run', 'only print the steps and the disk space that they need')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .action((options) => migrate(terminal, options));
  addExamples(command, 'migrate --dry-run', 'migrate');
}

async function migrate(terminal: Terminal, options: MigrateOptions): Promise<void> {
  const { loadSettings, refuseInMemory } = await import('../settings.ts');
  const { driverOf } = await import('../open-store.ts');
  const settings = loadSettings(terminal.environment);
  refuseInMemory(settings);
  const { databaseUrl } = settings;
  const migration = await driverOf(databaseUrl).openMigration(databaseUrl);
  try {
    await runMigration(terminal, migration, options);
  } finally {
    await migration.close();
  }
}

export async function runMigration(
  terminal: Terminal,
  migration: Migration,
  { dryRun = false, yes = false, json = false }: MigrateOptions,
): Promise<void> {
  const { stdout, stderr } = terminal;
  const plan = await migration.plan();
  const isDone = plan.steps.length > 0 && !dryRun;
  if (isDone) {
    // On stderr, because stdout is for the result.
    stderr.write(`${describePlan(plan)}\n`);
    refuseWithoutRoom(plan);
    await confirm(terminal, 'Migrate now?', { yes });
    await migration.run();
  }
  if (json)
    await stdout.write(`${JSON.stringify({ object: 'migration', ...plan, done: isDone })}\n`);
  else if (!isDone) await stdout.write(`${describePlan(plan)}\n`);
  else await stdout.write(`${plan.database} now has schema version ${plan.to}.\n`);
}

function describePlan({ database, from, to, steps, room }: MigrationPlan): string {
  if (steps.length === 0) {
    return `${database} has schema version ${from}, and this version of Latchkey works with it. There is nothing to do.`;
  }
  const free = room.free === null ? 'free space unknown' : `${megabytes(room.free)} free`;
  return [
    `${database} has schema version ${from}, and this version of Latchkey needs ${to}:`,
    ...steps.map(({ version, title }) => `  ${version}. ${title}`),
    steps.every(({ additive }) => additive)
      ? 'Programs of the previous version can continue to run.'
      : 'STOP every program of an earlier version first: it cannot work with the new schema.',
    room.needed === 0
      ? 'It needs almost no disk space.'
      : `It needs up to ${megabytes(room.needed)} more disk space (${free}).`,
    'Make a backup first.',
  ].join('\n');
}

function refuseWithoutRoom({ room: { needed, free } }: MigrationPlan): void {
  if (free === null || needed <= free) return;
  throw new Error(
    `The disk of the database has ${megabytes(free)} free, and the migration needs up to ${megabytes(needed)}. Free some disk space, then migrate again. Nothing was changed.`,
  );
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1_000_000)} MB`;
