import { openDatabase } from '../../../apps/server/src/store/sqlite/open-database.ts';
import { accountText, initiatorText } from '../../../apps/server/src/store/sqlite/rows.ts';
import { uuidToBytes } from '../../../packages/schema/src/index.ts';
import type { Seeder, SeedGrant } from './seed-data.ts';

/** Opens a file that has Latchkey's schema. */
export async function openSqliteSeeder(path: string): Promise<Seeder> {
  const database = await openDatabase(path);
  // About 1 GB. Each insert touches a random page of the index by account; with SQLite's default
  // cache of 2 MiB, these page reads took most of the time.
  database.exec('PRAGMA cache_size = -1000000');
  const statement = database.prepare(`
    INSERT OR REPLACE INTO grants
      (id, application_id, account_id, scope, account, code_hash, created_at, secret_hash,
        first_used_at, revoked_at, issued_by, redeemed_by, first_used_by, revoked_by)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const remove = database.prepare('DELETE FROM grants WHERE id > ?');

  async function insert(grants: readonly SeedGrant[]): Promise<void> {
    database.exec('BEGIN IMMEDIATE');
    for (const grant of grants) {
      statement.run(
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
        initiatorText(grant.issued_by),
        initiatorText(grant.redeemed_by),
        initiatorText(grant.first_used_by),
        initiatorText(grant.revoked_by ?? undefined),
      );
    }
    database.exec('COMMIT');
  }

  return {
    insert,
    settle: async () => undefined,
    restore: insert,
    deleteAfter: async (grant_id) => void remove.run(uuidToBytes(grant_id)),
    async close() {
      database.close();
    },
  };
}
