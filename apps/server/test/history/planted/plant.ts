import { setTimeout as sleep } from 'node:timers/promises';
import { activeGrants } from '@latchkey/rules/grants/active-grants';
import { uuidV7Time } from '@latchkey/schema';
import type { ConnectedGrant, LinkDecision } from '@latchkey/store/records';
import type { RevocationMark, Store } from '@latchkey/store/store';
import { Database } from '@latchkey/store-mongodb/database';
import { Database as PostgresqlDatabase } from '@latchkey/store-postgresql/database';
import { anInitiator, grantOf } from '@latchkey/store-suite/records';
import { type Document, ReadPreference } from 'mongodb';

// What a read takes on a database that is not in this process.
const LATENCY_MS = 2;
// A busy database.
const SLOW_MS = 100;
const CACHED_MS = 300;

const onASecondary = { readPreference: ReadPreference.secondaryPreferred };

/** @param status - of the decisions that are told to be made where another one was made first */
function toldWhereLost(store: Store, status: LinkDecision['status']): Partial<Store> {
  return {
    async decideLink(asked) {
      await sleep(SLOW_MS);
      const decided = await store.decideLink(asked);
      const link = decided ?? (await store.findLink(asked.link_id));
      const isToldAnyway = asked.decision.status === status && link !== null;
      const decision = { ...asked.decision, at: asked.now };
      return isToldAnyway ? { ...link, decision } : decided;
    },
  };
}

/** One by one. */
async function endGrants(
  store: Store,
  { now, initiator, ...parties }: RevocationMark,
  isMeant: (grant: ConnectedGrant) => boolean,
): Promise<void> {
  for await (const grant of activeGrants(store, parties)) {
    const { grant_id } = grant;
    if (!isMeant(grant)) continue;
    await store.revokeGrant({ grant_id, application_id: null, now, initiator });
  }
}

/** What is found is found again for a moment. */
function cached<Found>(
  find: (key: string) => Promise<Found>,
  isCached: (found: Found) => boolean,
): (key: string) => Promise<Found> {
  const cache = new Map<string, { found: Found; until: number }>();
  return async (key) => {
    const earlier = cache.get(key);
    if (earlier && performance.now() < earlier.until) return earlier.found;
    const found = await find(key);
    if (isCached(found)) cache.set(key, { found, until: performance.now() + CACHED_MS });
    return found;
  };
}

const isFound = (found: unknown) => found !== null;

/** @param bodyOf - what is sent instead of the body that is kept */
const withBodies = (store: Store, bodyOf: (body: string) => string): Partial<Store> => ({
  async claimDeliveries(claim) {
    const claimed = await store.claimDeliveries(claim);
    return claimed.map(({ delivery, endpoint }) => ({
      ...{ endpoint, delivery: { ...delivery, body: bodyOf(delivery.body) } },
    }));
  },
});

/** Mistakes that a store could make, each over one that does not. For the tests of the checker. */
export const plants = {
  /** None, for servers whose clocks differ. */
  nothing: (): Partial<Store> => ({}),

  /** Redemption looks first and writes then, and the write is without its condition. */
  'read-then-write': (store: Store): Partial<Store> => ({
    async redeemCode(redemption) {
      const { grant_id, application_id, secret_hash, now } = redemption;
      const state = await store.findCode(grant_id);
      if (state?.redeemed !== false) return null;
      await sleep(LATENCY_MS);
      const grant = await store.redeemCode(redemption);
      // Another was faster: its grant is overwritten.
      const blindWrite = { grant_id, application_id, secret_hash, redeemed_after: 0, now };
      return grant ?? store.recoverGrant({ ...blindWrite, initiator: anInitiator() });
    },
  }),

  /** The rules look whether the verifier fits, and the write does not. */
  'verifier-not-in-the-write': (store: Store): Partial<Store> => ({
    async redeemCode(redemption) {
      const state = await store.findCode(redemption.grant_id);
      const code_challenge = state?.code_challenge ?? null;
      return store.redeemCode({ ...redemption, code_challenge });
    },
  }),

  /** The rules look whether the resource fits, and the write does not. */
  'resource-not-in-the-write': (store: Store): Partial<Store> => ({
    redeemCode: (redemption) => store.redeemCode({ ...redemption, resources: null }),
  }),

  /** A process keeps what it knows of a grant in use for a moment, and hears of no revocation. */
  'cached-authentication': (store: Store): Partial<Store> => {
    const find = cached(
      (grant_id) => store.authenticateGrant(grant_id, { currentAccount: true }),
      (found) => found !== null && found.first_used_at !== null,
    );
    return { authenticateGrant: (grant_id) => find(grant_id) };
  },

  /** A process keeps what it knows of a key for a moment, and hears of no deletion. */
  'cached-keys': (store: Store): Partial<Store> => {
    const find = cached((key_id) => store.findKey(key_id), isFound);
    return { findKey: (key_id) => find(key_id) };
  },

  /** A process keeps what it knows of a pinned document for a moment, and hears of no change. */
  'cached-pins': (store: Store): Partial<Store> => {
    const find = cached((document_uri) => store.findKeptDocument(document_uri), isFound);
    const list = cached(() => store.listPinned(), isFound);
    return { findKeptDocument: (document_uri) => find(document_uri), listPinned: () => list('') };
  },

  /** A process keeps what it knows of other records for a moment, and hears of no change. */
  'cached-records': (store: Store): Partial<Store> => ({
    findAccount: cached((id) => store.findAccount(id), isFound),
    findEndpoint: cached((id) => store.findEndpoint(id), isFound),
  }),

  /** A recovery is answered, and the old secret stays. */
  'recovery-without-effect': (store: Store): Partial<Store> => ({
    async recoverGrant({ grant_id, application_id, redeemed_after }) {
      const found = await store.authenticateGrant(grant_id, { currentAccount: false });
      const isRecoverable =
        found?.grant.application_id === application_id &&
        found.grant.revoked_at === null &&
        found.grant.created_at > redeemed_after &&
        found.first_used_at === null;
      return isRecoverable ? grantOf(store, grant_id) : null;
    },
  }),

  /** An erasure forgets the account and leaves the codes and the grants as they are. */
  'erasure-of-the-account-alone': (store: Store): Partial<Store> => ({
    async markErasure({ account_id, now, initiator }) {
      const erased = { username: 'erased', display_name: 'erased', twitter: null };
      await store.putAccount({ id: account_id, ...erased, verified: false, supporter: false });
      const of = { account_id, application_id: null, before: 0 };
      return { kind: 'erasure', ...of, at: now, by: initiator };
    },
  }),
  /** A message counts as delivered whatever its receiver answers, and is not sent again. */
  'refused-is-delivered': (store: Store): Partial<Store> => ({
    endTries: (tries) =>
      store.endTries(
        tries.map((ended) => ({ ...ended, attempt: { ...ended.attempt, result: 'delivered' } })),
      ),
  }),

  /** The creation of a grant is told as its end. */
  'creations-are-told-as-ends': (store: Store): Partial<Store> =>
    withBodies(store, (body) => body.replace('grant.created', 'grant.revoked')),

  /** That an application was enabled is told as its end. */
  'enabled-is-told-as-disabled': (store: Store): Partial<Store> =>
    withBodies(store, (body) => body.replace('application.enabled', 'application.disabled')),

  /** A message is made anew for each try. */
  'body-of-each-try': (store: Store): Partial<Store> =>
    withBodies(store, (body) =>
      JSON.stringify({ ...JSON.parse(body), timestamp: new Date().toISOString() }),
    ),

  /** A disconnection ends the grants, and leaves the codes. */
  'codes-survive-a-disconnection': (store: Store): Partial<Store> => ({
    async markRevocation(mark) {
      if (mark.application_id === undefined) return store.markRevocation(mark);
      await endGrants(store, mark, () => true);
      return null;
    },
  }),

  /** What ends all of an account ends what is older, by the clocks of two processes. */
  'marks-order-by-time': (store: Store): Partial<Store> => ({
    async markRevocation(mark) {
      const { account_id, now } = mark;
      if (account_id === undefined) return store.markRevocation(mark);
      for (const { grant_id } of await store.listCodes(account_id)) {
        if ((uuidV7Time(grant_id) ?? 0) <= now) await store.cancelCode(grant_id);
      }
      await endGrants(store, mark, ({ created_at }) => created_at <= now);
      return null;
    },
  }),

  /** An application that is enabled again has everything from before. */
  'enabling-revives': (store: Store): Partial<Store> => ({
    async findApplication(...asked) {
      const found = await store.findApplication(...asked);
      return found && { ...found, generations: { ...found.generations, disabled: 0 } };
    },
    redeemCode: (redemption) => store.redeemCode({ ...redemption, disabled_generation: 0 }),
  }),

  /** The end of the pages is answered, and they stay. */
  'pages-outlive-their-end': (): Partial<Store> => ({ endPages: async () => undefined }),

  /** A denial looks whether the link is undecided, and is told without a look at its write. */
  'lost-denial-is-told': (store: Store): Partial<Store> => toldWhereLost(store, 'denied'),

  /** Likewise an approval: its code is told, and is good. */
  'lost-approval-is-told': (store: Store): Partial<Store> => toldWhereLost(store, 'approved'),

  /** Any account is approved for a link, whoever was identified. */
  'approval-of-anybody': (store: Store): Partial<Store> => ({
    async findLink(link_id) {
      const link = await store.findLink(link_id);
      return link && { ...link, switched: true };
    },
    async decideLink(decision) {
      const decided = await store.decideLink(decision);
      const link = decided ? null : await store.findLink(decision.link_id);
      if (!link?.page_id) return decided;
      // A page has no condition on the account.
      return store.decideLink({ ...decision, holder: { page_id: link.page_id } });
    },
  }),

  /**
   * Reads that decide have no fence. On MongoDB they return what a majority has, as far as a secondary knows; on
   * PostgreSQL, what a server has that takes itself for the primary.
   */
  'without-fence': (): Partial<Store> => {
    const { send } = PostgresqlDatabase.prototype;
    PostgresqlDatabase.prototype.send = function (text, ...rest) {
      const unfenced = text.replaceAll(/pg_logical_emit_message\([^)]*\)/g, 'pg_current_wal_lsn()');
      return send.call(this, unfenced, ...rest);
    };
    Database.prototype.decide = function (work) {
      return this.read((database) =>
        work({ ...database, decisive: { ...database.listing, ...onASecondary } }),
      );
    };
    return {};
  },

  /** No mistake: behind a fence, a secondary is as good as the primary. */
  'fence-and-secondary': (): Partial<Store> => {
    Database.prototype.decide = function (work) {
      return this.read((database) =>
        database.order.read([{}], (decisive) => {
          if (!decisive.session) return work({ ...database, decisive });
          // Or the secondary refuses a time that it has not heard of.
          const { topology } = database.db.client as unknown as Document;
          decisive.session.advanceClusterTime(topology.clusterTime);
          return work({ ...database, decisive: { ...decisive, ...onASecondary } });
        }),
      );
    };
    return {};
  },
};

export type PlantName = keyof typeof plants;
