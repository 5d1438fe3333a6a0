import { UnusableDatabase } from './unusable-database.ts';

/** What a database says of itself. */
export interface SchemaVersion {
  version: number;
  /** Of the oldest program that can use it: what was added since, that program ignores. */
  oldest: number;
}

/** What this program makes and knows. The first change of a released schema brings steps: decision 43. */
export const SCHEMA: Readonly<SchemaVersion> = { version: 1, oldest: 1 };

export class SchemaMismatch extends UnusableDatabase {
  override readonly name = 'SchemaMismatch';
}

export function refuseNewer({ version, oldest }: SchemaVersion, database: string): void {
  if (version <= SCHEMA.version || oldest <= SCHEMA.version) return;
  throw new SchemaMismatch(
    `${database} was migrated or created by a newer Latchkey: its schema is version ${version}, and this program knows ${SCHEMA.version}. Run that version of Latchkey or a later one, restore a backup from before the migration, or set DATABASE_URL to another database.`,
  );
}

/** A copy would lack what was added. */
export function refuseToCopy(version: number, database: string): void {
  if (version <= SCHEMA.version) return;
  throw new SchemaMismatch(
    `The database ${database} has schema version ${version}, and this program copies version ${SCHEMA.version}. Copy it with the newer version of Latchkey.`,
  );
}

/** For `latchkey doctor`, of a schema that this program can use. */
export const whoseSchema = (version: number) =>
  version === SCHEMA.version
    ? "is this program's"
    : `is newer than version ${SCHEMA.version} of this program, and adds only what it ignores`;
