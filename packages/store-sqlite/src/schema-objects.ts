import type { DatabaseSync } from 'node:sqlite';
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

/**
 * A trigger or a view could change or hide what a statement of ours does. An index cannot.
 *
 * @returns such as `trigger keep_grants`
 */
export function foreignObjects(database: DatabaseSync): string[] {
  const own = new Set(ownObjects().map(nameOf));
  return objectsOf(database)
    .filter((object) => object.type !== 'index' && !own.has(nameOf(object)))
    .map(nameOf);
}

const nameOf = ({ type, name }: SchemaObject) => `${type} ${name}`;
