import { openDatabase } from '../../../apps/server/src/store/sqlite/open-database.ts';
import { originText } from '../../../apps/server/src/store/sqlite/origin-text.ts';
import { accountText } from '../../../apps/server/src/store/sqlite/rows.ts';
import { uuidToBytes } from '../../../packages/schema/src/index.ts';
import type { Shelf } from './shelf.ts';
import type { StoredGrant } from './stored-grants.ts';

/** The grants in a file that has Latchkey's schema. */
export async function sqliteShelf(path: string): Promise<Shelf> {
  const database = await openDatabase(path);
  // The index by account is met all over with each grant: in 2 MiB, SQLite's own cache, that took
  // most of the time.
  database.exec('PRAGMA cache_size = -1000000');
  const insert = database.prepare(`
    INSERT OR REPLACE INTO grants
      (id, application_id, account_id, scope, account, code_hash, created_at, secret_hash,
        first_used_at, revoked_at, issued_by, exchanged_by, first_used_by, revoked_by)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const remove = database.prepare('DELETE FROM grants WHERE id > ?');

  async function add(grants: readonly StoredGrant[]): Promise<void> {
    database.exec('BEGIN IMMEDIATE');
    for (const grant of grants) {
      insert.run(
        uuidToBytes(grant.grant_id),
        uuidToBytes(grant.application_id),
        uuidToBytes(grant.account.id),
        grant.scope,
        accountText(grant.account),
        grant.code_hash,
        grant.created_at,
        grant.secret_hash,
        grant.first_used_at,
        grant.revoked_at,
        originText(grant.issued_by),
        originText(grant.exchanged_by),
        originText(grant.first_used_by),
        originText(grant.revoked_by ?? undefined),
      );
    }
    database.exec('COMMIT');
  }

  return {
    add,
    restore: add,
    removeAfter: async (grant_id) => void remove.run(uuidToBytes(grant_id)),
    async close() {
      database.close();
    },
  };
}
