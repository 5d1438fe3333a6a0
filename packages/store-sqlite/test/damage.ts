import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Overwrites the first page of a table, as a disk would that lost it. No process may use the file. */
export function damage(path: string, table: string): void {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const page = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table);
  const { page_size } = database.prepare('PRAGMA page_size').get() as { page_size: number };
  database.close();
  const bytes = readFileSync(path);
  const start = (Number(page?.rootpage) - 1) * page_size;
  bytes.fill(0xa5, start, start + page_size);
  writeFileSync(path, bytes);
}
