import type { AnyKind, Index } from '@latchkey/store/kind';
import * as kinds from '@latchkey/store/kinds';
import { refuseNewer, type SchemaVersion } from '@latchkey/store/schema-version';
import { tableOf, tablesByHand } from '@latchkey/store/sql/schema';
import { UnusableDatabase } from '@latchkey/store/unusable-database';
import type { Send } from './database.ts';
import { types } from './dialect.ts';

/** Whatever order the database has for texts, lists are in the order of their bytes. */
const columnTypes = { ...types, text: 'text COLLATE "C"' };

/** PostgreSQL does not see that what IS NULL needs no order. JSON, which is in no other index, has none. */
const withoutUnset = ({ indexes = {}, ...kind }: AnyKind): AnyKind => {
  const narrowed = Object.entries(indexes as Record<string, Index>).map(([name, index]) => [
    name,
    { ...index, on: index.on.filter((field) => !index.where?.unset?.includes(field)) },
  ]);
  return { ...kind, indexes: Object.fromEntries(narrowed) };
};

/** Of each table. */
export const KINDS: readonly AnyKind[] = Object.values<AnyKind>(kinds).map(withoutUnset);

/** A page keeps room for the next version of its grants: a note of use then changes no index. */
const optionsOf = ({ name }: AnyKind) => (name === 'grants' ? ' WITH (fillfactor = 80)' : '');

const schema = { types: columnTypes, optionsOf };

const SCHEMA_TEXT = `
  ${KINDS.map((kind) => tableOf(schema, kind)).join('\n\n')}

  ${tablesByHand(schema)}
`;

/** All tables. */
export const TABLES: readonly string[] = [...SCHEMA_TEXT.matchAll(/CREATE TABLE (\w+)/g)].map(
  ([, name]) => name as string,
);

/** Any number that no other program takes for such a lock. */
const LOCK = 0x6c61_7463;

/** One transaction: where there are any tables, there are all. Several processes may do so at once. */
export async function createSchema(send: Send): Promise<void> {
  // Without a lock, since there is nearly always nothing to do.
  if ((await versionOf(send)) > 0) return;
  // Without values, these statements are one transaction.
  await send(`
    SELECT pg_advisory_xact_lock(${LOCK});
    DO $latchkey$ BEGIN
      IF to_regclass('schema_version') IS NULL THEN ${SCHEMA_TEXT} END IF;
    END $latchkey$`);
  await versionOf(send);
}

/**
 * @returns 0 if it has no tables of Latchkey
 * @throws SchemaMismatch if this program is too old for it
 */
export async function versionOf(send: Send): Promise<number> {
  const [found] = await send(
    "SELECT to_regclass('schema_version') IS NOT NULL AS is_there, current_database() AS name",
  );
  if (!found?.is_there) return 0;
  const [noted] = await send('SELECT version, oldest FROM schema_version');
  refuseNewer(noted as SchemaVersion, `The database ${found.name}`);
  return noted?.version;
}

/** @throws UnusableDatabase if the database is new */
export async function refuseNew(send: Send): Promise<void> {
  if ((await versionOf(send)) > 0) return;
  const [found] = await send('SELECT current_database() AS name');
  throw new UnusableDatabase(
    `The database ${found?.name} is not one of Latchkey. Check DATABASE_URL; \`latchkey serve\` creates the tables.`,
  );
}
