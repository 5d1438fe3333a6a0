import { timingSafeEqual } from 'node:crypto';
import type {
  AccountRecord,
  ApplicationRecord,
  CodeRecord,
  GrantRecord,
  Records,
} from '../bare/records.ts';
import { runBare } from '../bare/server.ts';
import type { Contender } from '../contender.ts';
import { startProgram } from '../program.ts';
import { restWire } from '../wires/rest.ts';

interface Row extends CodeRecord {
  /** Null until the code is redeemed. */
  grant: GrantRecord | null;
  secret_hash: Uint8Array | null;
  first_used_at: number | null;
}

/** Records in memory. */
export function mapRecords(): Records {
  const applications = new Map<string, ApplicationRecord>();
  const accounts = new Map<string, AccountRecord>();
  const rows = new Map<string, Row>();
  return {
    createApplication: (application) => void applications.set(application.id, application),
    putAccount: (account) => void accounts.set(account.id, account),
    findApplication: (id) => applications.get(id) ?? null,
    issueCode: (code) =>
      void rows.set(code.grant_id, {
        ...code,
        grant: null,
        secret_hash: null,
        first_used_at: null,
      }),
    redeemCode({ grant_id, application_id, code_hash, secret_hash, now }) {
      const row = rows.get(grant_id);
      if (!row || row.grant || row.application_id !== application_id) return null;
      if (row.code_expires_at <= now || !timingSafeEqual(row.code_hash, code_hash)) return null;
      const { scope, account } = row;
      row.secret_hash = secret_hash;
      row.grant = { grant_id, application_id, scope, account, created_at: now, revoked_at: null };
      return row.grant;
    },
    authenticateGrant(grant_id) {
      const row = rows.get(grant_id);
      if (!row?.grant) return null;
      return {
        grant: row.grant,
        secret_hash: row.secret_hash,
        first_used_at: row.first_used_at,
        application_disabled: applications.get(row.application_id)?.disabled ?? true,
        account: accounts.get(row.account.id) ?? null,
      };
    },
    noteFirstUse({ grant_id, now }) {
      const row = rows.get(grant_id);
      if (!row?.secret_hash) return false;
      row.first_used_at ??= now;
      return true;
    },
    revokeGrant({ grant_id, application_id, now }) {
      const row = rows.get(grant_id);
      if (!row?.grant || row.application_id !== application_id) return null;
      row.grant.revoked_at ??= now;
      row.secret_hash = null;
      return row.grant;
    },
  };
}

/**
 * The floor: the least that Node needs for these operations, with the requests of a tick handled as a
 * batch. It stores nothing on disk.
 */
export const floor: Contender = {
  name: 'node:http over a Map, batched (the floor)',
  share: 1,
  start: (options) => startProgram(import.meta.filename, options, restWire, ['batched']),
};

/** The same with each request handled when it arrives, as most servers do it. */
export const unbatched: Contender = {
  name: 'node:http over a Map',
  share: 1,
  start: (options) => startProgram(import.meta.filename, options, restWire),
};

if (import.meta.main) await runBare(mapRecords(), { batches: process.argv[2] === 'batched' });
