import type { DatabaseSync } from 'node:sqlite';
import { stillText } from '@latchkey/domain/still-text';
import { nodeSqlite } from './node-sqlite.ts';
import { SCHEMA_TEXT } from './schema.ts';

interface SchemaObject {
  type: 'table' | 'index' | 'view' | 'trigger';
  name: string;
  sql: string;
}

/** Without what SQLite makes itself, such as the statistics of ANALYZE. */
export function objectsOf(database: DatabaseSync): SchemaObject[] {
  const all = database.prepare(
    "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
  );
  return all.all() as unknown as SchemaObject[];
}

/** Those of a new database. */
export function ownObjects(): SchemaObject[] {
  const fresh = new (nodeSqlite().DatabaseSync)(':memory:');
  try {
    fresh.exec(SCHEMA_TEXT);
    return objectsOf(fresh);
  } finally {
    fresh.close();
  }
}

/** What is in a database beside what Latchkey made. */
export interface ForeignObjects {
  /** Plain tables: nothing of ours reads or writes them, so a copy leaves them behind. */
  tables: string[];
  /**
   * These could change or hide what a statement of ours does: triggers, views, virtual tables, and tables
   * with a foreign key, such as `trigger keep_grants`. An index cannot. To be read: whoever made one has chosen its name.
   */
  refused: string[];
}

export function foreignObjects(database: DatabaseSync): ForeignObjects {
  const own = new Set(ownObjects().map(nameOf));
  const plain = database.prepare(`
    SELECT name FROM pragma_table_list
    WHERE schema = 'main' AND type = 'table'
      AND NOT EXISTS (SELECT 1 FROM pragma_foreign_key_list(pragma_table_list.name))`);
  const plainTables = new Set(plain.all().map(({ name }) => `table ${name}`));
  const found = objectsOf(database)
    .filter((object) => object.type !== 'index' && !own.has(nameOf(object)))
    .map(nameOf);
  return {
    tables: found
      .filter((name) => plainTables.has(name))
      .map((name) => name.slice('table '.length)),
    refused: found.filter((name) => !plainTables.has(name)).map(stillText),
  };
}

/** @throws Error if it has what no restore takes */
export function refuseForeignObjects(database: DatabaseSync, name: string): void {
  const { refused } = foreignObjects(database);
  if (refused.length === 0) return;
  throw new Error(
    `${name} has what Latchkey did not make, and what can change what a write does: ${refused.join(', ')}. Find out who made it, and drop it with sqlite3: of a backup, from a copy of it.`,
  );
}

/** Their content is overwritten, not only given up. */
export function dropForeignTables(database: DatabaseSync): void {
  const { tables } = foreignObjects(database);
  database.exec('PRAGMA secure_delete = ON');
  for (const name of tables) database.exec(`DROP TABLE "${name.replaceAll('"', '""')}"`);
}

const nameOf = ({ type, name }: SchemaObject) => `${type} ${name}`;
