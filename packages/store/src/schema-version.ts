import { UnusableDatabase } from './unusable-database.ts';

/** Step n takes a database from version n to n + 1. Never change a released step: add one. */
export interface SchemaStep {
  title: string;
  /** Whether programs of the version before can use the result: it adds only what they ignore. */
  additive: boolean;
  /** Whether it writes every record of a large table, or builds an index on one. */
  rewrites: boolean;
}

export interface SchemaVersion {
  version: number;
  /** The number of steps that the oldest program knows that can use the database. */
  oldest: number;
}

export interface MigrationPlan {
  database: string;
  from: number;
  to: number;
  steps: { version: number; title: string; additive: boolean }[];
  room: Room;
}

/** In bytes. */
interface Room {
  /** At most, besides what the database takes. */
  needed: number;
  /** Null if the database does not report it. */
  free: number | null;
}

export interface Migration {
  plan(): Promise<MigrationPlan>;
  /** Safe to repeat, also after it was killed. Changes nothing before it is called. */
  run(): Promise<void>;
  close(): Promise<void>;
}

export class SchemaMismatch extends UnusableDatabase {
  override readonly name = 'SchemaMismatch';
}

export function versionAfter(steps: readonly SchemaStep[]): SchemaVersion {
  return { version: steps.length, oldest: steps.findLastIndex(({ additive }) => !additive) + 1 };
}

/** A database with unknown steps is usable if they were all additive. */
export function refuseNewer(
  { version, oldest }: SchemaVersion,
  steps: readonly SchemaStep[],
  database: string,
): void {
  if (version <= steps.length || oldest <= steps.length) return;
  throw new SchemaMismatch(
    `${database} was migrated or created by a newer Latchkey: its schema is version ${version}, and this program knows ${steps.length}. Run that version of Latchkey or a later one, restore a backup from before the migration, or set DATABASE_URL to another database.`,
  );
}

/** Programs of the version before may be running, so a start makes only additive steps. */
export function mayMakeSteps(
  version: number,
  steps: readonly SchemaStep[],
  database: string,
  mayMigrate: boolean,
): boolean {
  const missing = steps.slice(version);
  if (missing.length === 0) return false;
  const versions = `${database} has the schema of an earlier Latchkey, version ${version}, and this program needs ${steps.length}.`;
  if (!mayMigrate) throw new SchemaMismatch(`${versions} Run \`latchkey migrate\`.`);
  if (version === 0 || missing.every(({ additive }) => additive)) return true;
  throw new SchemaMismatch(
    `${versions} Earlier programs cannot work with it. Stop them all, then run \`latchkey migrate\`.`,
  );
}

export function refuseToCopy(
  version: number,
  steps: readonly SchemaStep[],
  database: string,
): void {
  const known = steps.length;
  if (version === known || version === 0) return;
  throw new SchemaMismatch(
    `The database ${database} has schema version ${version}, and this program copies version ${known}. ${version < known ? 'Run `latchkey migrate` on it first' : 'Copy it with the newer version of Latchkey'}.`,
  );
}

export function planOf(
  database: string,
  from: number,
  steps: readonly SchemaStep[],
  { size, free }: { size: number; free: number | null },
): MigrationPlan {
  const missing = steps.slice(from);
  return {
    ...{ database, from, to: Math.max(from, steps.length) },
    steps: missing.map(({ title, additive }, index) => ({
      ...{ version: from + index + 1, title, additive },
    })),
    room: { needed: missing.some(({ rewrites }) => rewrites) ? 2 * size : 0, free },
  };
}
