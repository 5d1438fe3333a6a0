/**
 * One step of the schema of a database: step n takes it from version n to n + 1. Never change a step
 * that was released: add one.
 */
export interface SchemaStep {
  /** What it does, for the operator, as in "add the column grants.note". */
  title: string;
  /**
   * Whether programs of the version before go on working with it, and can be started on it: it only
   * adds what they ignore, such as a table, an index, or a column that has a default.
   */
  additive: boolean;
  /** Whether it writes every record of a large table, or builds an index on one. */
  rewrites: boolean;
}

/** The version of a database. */
export interface SchemaVersion {
  /** How many steps were made; 0 for a new database. */
  version: number;
  /** The oldest program that can use the database, by the number of steps that it knows. */
  oldest: number;
}

/** What a migration would do. */
export interface MigrationPlan {
  /** Without credentials. */
  database: string;
  /** The version of the database. */
  from: number;
  /** The version of this program. */
  to: number;
  steps: { version: number; title: string; additive: boolean }[];
  room: Room;
}

/** Room on the disk, in bytes. */
export interface Room {
  /** How much a migration takes at most, besides what the database takes. */
  needed: number;
  /** How much is free; null if the database does not tell. */
  free: number | null;
}

/** What `latchkey migrate` needs of a database. */
export interface Migration {
  /** @throws SchemaMismatch if a newer program migrated the database */
  plan(): Promise<MigrationPlan>;
  /** Makes the steps that are missing. Safe to repeat, also after it was killed. */
  run(): Promise<void>;
  close(): Promise<void>;
}

/** The schema of a database is not that of this program. Only an operator can change that. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch';
}

/** The version of a database once all steps were made. */
export function versionAfter(steps: readonly SchemaStep[]): SchemaVersion {
  return { version: steps.length, oldest: steps.findLastIndex(({ additive }) => !additive) + 1 };
}

/**
 * A database with more steps than this program knows is usable if they were all additive.
 *
 * @param database - how messages call it
 * @throws SchemaMismatch
 */
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

/**
 * Whether steps are to be made. A start makes those that programs of the version before can live
 * with, since they may be running; the others wait for `latchkey migrate`.
 *
 * @param database - how messages call it
 * @param mayMigrate - whether additive steps may be made
 * @throws SchemaMismatch if steps are missing that may not be made
 */
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
  // There is no earlier program where there is no database yet.
  if (version === 0 || missing.every(({ additive }) => additive)) return true;
  throw new SchemaMismatch(
    `${versions} Earlier programs cannot work with it. Stop them all, then run \`latchkey migrate\`.`,
  );
}

/**
 * A copy of another version could leave out what this program does not know, or bring what it does not
 * understand.
 *
 * @throws SchemaMismatch
 */
export function refuseToCopy(
  version: number,
  steps: readonly SchemaStep[],
  database: string,
): void {
  const known = steps.length;
  // There is nothing in a new database.
  if (version === known || version === 0) return;
  throw new SchemaMismatch(
    `The database ${database} has schema version ${version}, and this program copies version ${known}. ${version < known ? 'Run `latchkey migrate` on it first' : 'Copy it with the newer version of Latchkey'}.`,
  );
}

/** @param database - its name, without credentials */
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
