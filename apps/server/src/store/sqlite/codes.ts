import type { DatabaseSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { CodeState, GrantRecord, PendingRecord } from '../records.ts';
import type { Change, Redemption } from '../store.ts';
import { originText } from './origin-text.ts';
import { accountText, type GrantRow, grantRecord, type PendingRow, pendingRecord } from './rows.ts';
import { prepareSweep } from './sweep.ts';

type CodeRow = { application_id: Uint8Array; code_hash: Uint8Array; exchanged: number };

/** The statements on codes, prepared. All are synchronous. */
export function prepareCodes(database: DatabaseSync) {
  const issue = database.prepare(`
    INSERT INTO grants
      (id, application_id, account_id, scope, account, code_hash, code_expires_at, issued_by)
    VALUES
      (:id, :application_id, :account_id, :scope, :account, :code_hash, :code_expires_at, :origin)`);
  const cancel = database.prepare(`
    DELETE FROM grants WHERE id = :id AND created_at IS NULL
    RETURNING application_id, scope, account, code_hash, code_expires_at`);
  // Every condition and every change in one statement: there is no moment between a look and the
  // write in which another could redeem, and none at which a code is spent and no grant exists.
  //
  // This one and those of `grants.ts` that each request comes to take their values in order: to bind
  // them by name takes 2 µs of the 15 that this one takes.
  const redeem = database.prepare(`
    UPDATE grants SET created_at = ?, secret_hash = ?, code_expires_at = NULL, exchanged_by = ?
    WHERE id = ? AND application_id = ? AND code_hash = ?
      AND created_at IS NULL AND code_expires_at > ?
    RETURNING scope, account, created_at, revoked_at`);
  const find = database.prepare(`
    SELECT application_id, code_hash, created_at IS NOT NULL AS exchanged
    FROM grants WHERE id = :id`);
  const sweepCodes = prepareSweep(database, {
    table: 'grants',
    key: 'id',
    endsAt: 'code_expires_at',
    // Only a pending code has an expiry; this makes sure that no grant is touched.
    only: 'created_at IS NULL',
  });

  return {
    issueCode(code: PendingRecord & Change): void {
      issue.run({
        id: uuidToBytes(code.grant_id),
        application_id: uuidToBytes(code.application_id),
        account_id: uuidToBytes(code.account.id),
        scope: code.scope,
        account: accountText(code.account),
        code_hash: code.code_hash,
        code_expires_at: code.code_expires_at,
        origin: originText(code.origin),
      });
    },

    cancelCode(grant_id: string): PendingRecord | null {
      const row = cancel.get({ id: uuidToBytes(grant_id) }) as PendingRow | undefined;
      return row ? pendingRecord(grant_id, row) : null;
    },

    redeemCode(redemption: Redemption): GrantRecord | null {
      const { grant_id, application_id, code_hash, secret_hash, now } = redemption;
      const row = redeem.get(
        now,
        secret_hash,
        originText(redemption.origin),
        uuidToBytes(grant_id),
        uuidToBytes(application_id),
        code_hash,
        now,
      ) as GrantRow | undefined;
      return row ? grantRecord(redemption, row) : null;
    },

    findCode(grant_id: string): CodeState | null {
      const row = find.get({ id: uuidToBytes(grant_id) }) as CodeRow | undefined;
      return row
        ? {
            application_id: uuidFromBytes(row.application_id),
            code_hash: row.code_hash,
            exchanged: row.exchanged === 1,
          }
        : null;
    },

    /** Deletes codes that expired without being exchanged. */
    sweepCodes,
  };
}
