import type { DatabaseSync } from 'node:sqlite';

/** Ends a transaction that failed, with nothing changed. */
export function rollBack(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // After some errors, a full disk for one, SQLite has done it already and finds none to end:
    // https://sqlite.org/lang_transaction.html, section 3.
  }
}
