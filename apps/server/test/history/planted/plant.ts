import { setTimeout as sleep } from 'node:timers/promises';
import type { GrantAuthentication } from '../../../src/store/records.ts';
import type { Store } from '../../../src/store/store.ts';

// What a read takes on a database that is not in this process.
const LATENCY_MS = 2;
const CACHED_MS = 100;

/** Mistakes that a store could make, each over one that does not. For the tests of the checker. */
export const plants = {
  /** Redemption looks first and writes then, and the write is without its condition. */
  'read-then-write': (store: Store): Partial<Store> => ({
    async redeemCode(redemption) {
      const { grant_id, application_id, secret_hash, now } = redemption;
      const state = await store.findCode(grant_id);
      if (state?.exchanged !== false) return null;
      await sleep(LATENCY_MS);
      const grant = await store.redeemCode(redemption);
      // Another was faster: its grant is overwritten.
      const blindWrite = { grant_id, application_id, secret_hash, exchanged_after: 0, now };
      return grant ?? store.recoverGrant(blindWrite);
    },
  }),

  /** A process keeps what it knows of a grant in use for a moment, and hears of no revocation. */
  'cached-authentication': (store: Store): Partial<Store> => {
    const cache = new Map<string, { found: GrantAuthentication; until: number }>();
    return {
      async authenticateGrant(grant_id) {
        const cached = cache.get(grant_id);
        if (cached && performance.now() < cached.until) return cached.found;
        const found = await store.authenticateGrant(grant_id, { currentAccount: true });
        if (found && found.first_used_at !== null) {
          cache.set(grant_id, { found, until: performance.now() + CACHED_MS });
        }
        return found;
      },
    };
  },

  /** A recovery is answered, and the old secret stays. */
  'recovery-without-effect': (store: Store): Partial<Store> => ({
    async recoverGrant({ grant_id, application_id, exchanged_after }) {
      const found = await store.authenticateGrant(grant_id, { currentAccount: false });
      const isRecoverable =
        found?.grant.application_id === application_id &&
        found.grant.revoked_at === null &&
        found.grant.created_at > exchanged_after &&
        found.first_used_at === null;
      return isRecoverable ? store.findGrant(grant_id) : null;
    },
  }),
};

export type PlantName = keyof typeof plants;
