import { CLAIM_LASTS } from '@latchkey/domain/lifetimes';
import type { Work } from '@latchkey/store/endings';
import type { DeliveryRecord, EndpointRecord } from '@latchkey/store/records';
import type { ClaimedDelivery, Store } from '@latchkey/store/store';
import { afterEach, describe, expect, test } from 'vitest';
import { beforeStep, notReached } from './between-steps.ts';
import { erase, finish } from './finish.ts';
import type { StoreHarness, TestDatabase } from './harness.ts';
import {
  anAccount,
  anApplication,
  anEndpoint,
  anId,
  anInitiator,
  granted,
  issued,
  redeemed,
} from './records.ts';

const DAY = 86_400_000;

const RANGE = { limit: 100, before: null };

/** The steps at which the rows below call back. */
const STEP = {
  'its maker stores it': 'insertNew deliveries',
  'its maker writes a message': 'changeEach deliveries to body due_at',
  'a claim writes a message': 'change deliveries to body',
  'a claim drops it': 'change deliveries to status due_at claim ended_at',
  'a claim takes it back': 'change deliveries to status due_at claim ended_at body names_of',
  'an erasure drops it': 'changeSome deliveries to status body names_of due_at claim ended_at',
  'the end of a try is written':
    'changeEach deliveries to status due_at ended_at claim attempts tries',
  'a retry begins it anew':
    'change deliveries to status claim tries ended_at due_at round generation',
  'a replay begins it anew':
    'changeSome deliveries to status claim tries ended_at due_at round generation',
  'a mark removes codes': 'removeSome grants',
  'a mark revokes grants': 'changeSome grants to revoked_at revoked_by revoked_reason secret_hash',
  'an erasure takes out names': 'changeSome grants to account choice',
  'an erasure notes its progress': 'change accounts to erased_until',
} as const;

type Run = (given: Given) => Promise<void>;

/** What a row is made with. */
interface Given {
  database: TestDatabase;
  store: Store;
  other: Store;
  now: number;
}

/** For a store whose operations call back: its test file imports `plant-mistake.ts`. */
export function describeBetween(harness: StoreHarness): void {
  const before = (step: keyof typeof STEP, run: () => Promise<unknown>) =>
    beforeStep(STEP[step], run);

  /** As if the process was killed. */
  async function killed(step: keyof typeof STEP, call: () => Promise<unknown>): Promise<void> {
    before(step, () => Promise.reject(new Error('killed')));
    await expect(call()).rejects.toThrow('killed');
  }

  const initiator = anInitiator();

  async function updated(store: Store, endpoint: EndpointRecord, application_id?: string) {
    const account = anAccount();
    await store.createEndpoint(endpoint, { most: 5 });
    await (application_id
      ? granted(store, { account, application_id })
      : store.putAccount(account));
    await store.putAccount({ ...account, username: 'Ada' });
    return account.id;
  }

  /** An application that is to be told of an account, whose grant is idle days later. */
  async function toldApplication(store: Store, now: number) {
    const application = anApplication({ idle_days: 1 });
    const { id } = application;
    await store.createApplication(application);
    const endpoint = anEndpoint({ application_id: id, types: ['account.updated'] });
    await updated(store, endpoint, id);
    await store.makeDeliveries(now);
    return { id, endpoint };
  }

  const claim = (store: Store, { id }: EndpointRecord, now: number): Promise<ClaimedDelivery[]> =>
    store.claimDeliveries({ now, claim: anId(), endpoints: [{ id, most: 100 }] });

  async function deliveryOf(store: Store, { id }: EndpointRecord): Promise<DeliveryRecord> {
    const found = await store.listDeliveries({ endpoint_id: id }, RANGE);
    const [delivery] = found.filter(({ type }) => type === 'account.updated');
    if (!delivery) throw new Error('There is no delivery.');
    return delivery;
  }

  async function endTry(
    store: Store,
    one: ClaimedDelivery | undefined,
    now: number,
    next: number | null,
  ) {
    if (!one) throw new Error('Nothing was claimed.');
    const { id, claim, endpoint_id } = one.delivery;
    const attempt = { at: now, duration_ms: 7, result: 'failed' as never, status_code: 500 };
    await store.endTries([
      {
        ...{ delivery_id: id, claim: claim ?? '', endpoint_id, url: one.endpoint.url, attempt },
        ...{ next_attempt_at: next, isGone: false, now },
      },
    ]);
  }

  /** A delivery whose first try has failed. */
  async function failed(store: Store, now: number, next_attempt_at: number | null) {
    const endpoint = anEndpoint();
    const account_id = await updated(store, endpoint);
    await store.makeDeliveries(now);
    const [claimed] = await claim(store, endpoint, now);
    await endTry(store, claimed, now, next_attempt_at);
    return { endpoint, account_id };
  }

  /**
   * A claim that stops before it writes its message.
   *
   * @returns what lets it go on
   */
  async function heldClaim(
    store: Store,
    endpoint: EndpointRecord,
    now: number,
  ): Promise<() => Promise<void>> {
    const [isHeld, isOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    before('a claim writes a message', async () => {
      isHeld.resolve();
      await isOver.promise;
    });
    const claiming = claim(store, endpoint, now);
    await isHeld.promise;
    return async () => {
      isOver.resolve();
      await claiming;
    };
  }

  /** Begins a delivery anew, and tries it. */
  async function triedAnew(store: Store, endpoint: EndpointRecord, now: number): Promise<void> {
    const { id } = await deliveryOf(store, endpoint);
    await store.retryDelivery(id, now);
    const [claimed] = await claim(store, endpoint, now);
    await endTry(store, claimed, now, now + 5_000);
  }

  const eraseOn = (store: Store, account_id: string, now: number) =>
    erase(store, { account_id, now, initiator });

  const rows: [title: string, run: Run][] = [
    [
      'a message whose account is erased before its maker writes it keeps no name',
      async ({ store, other, now }) => {
        const endpoint = anEndpoint();
        const account_id = await updated(store, endpoint);
        before('its maker writes a message', () => eraseOn(other, account_id, now));
        await store.makeDeliveries(now);
        expect(await deliveryOf(other, endpoint)).toMatchObject({ status: 'dropped', body: null });
      },
    ],
    [
      'a message whose account is erased before a claim writes it keeps no name',
      async ({ store, other, now }) => {
        const endpoint = anEndpoint();
        const account_id = await updated(store, endpoint);
        await killed('its maker writes a message', () => store.makeDeliveries(now));
        before('a claim writes a message', () => eraseOn(other, account_id, now));
        await claim(store, endpoint, now + CLAIM_LASTS);
        expect(await deliveryOf(other, endpoint)).toMatchObject({ status: 'dropped', body: null });
      },
    ],
    [
      'a delivery that was tried before its maker writes the message waits for its next try',
      async ({ store, other, now }) => {
        const endpoint = anEndpoint();
        await updated(store, endpoint);
        const late = now + CLAIM_LASTS;
        before('its maker writes a message', async () => {
          const [claimed] = await claim(other, endpoint, late);
          await endTry(other, claimed, late, late + 5_000);
        });
        await store.makeDeliveries(now);
        expect(await deliveryOf(other, endpoint)).toMatchObject({ due_at: late + 5_000 });
      },
    ],
    [
      'a delivery that is claimed before its maker finds its account erased is dropped without names',
      async ({ store, other, now }) => {
        const endpoint = anEndpoint();
        const account_id = await updated(store, endpoint);
        await killed('its maker writes a message', () => store.makeDeliveries(now));
        const late = now + CLAIM_LASTS;
        let goOn = async () => {};
        let erasure: Work | null = null;
        before('its maker stores it', async () => {
          goOn = await heldClaim(other, endpoint, late);
          erasure = await other.markErasure({ account_id, now: late, initiator });
        });
        await store.makeDeliveries(now);
        await finish(store, erasure);
        await goOn();
        expect(await deliveryOf(other, endpoint)).toMatchObject({ status: 'dropped', body: null });
      },
    ],
    [
      'a message whose try ends before an erasure drops it keeps no name',
      async ({ store, other, now }) => {
        const endpoint = anEndpoint();
        const account_id = await updated(store, endpoint);
        await store.makeDeliveries(now);
        const [claimed] = await claim(store, endpoint, now);
        before('an erasure drops it', () => endTry(other, claimed, now, null));
        await eraseOn(store, account_id, now);
        expect(await deliveryOf(other, endpoint)).toMatchObject({ status: 'failed', body: null });
      },
    ],
    [
      'a delivery that is over, and then erased, before its maker stores it again stays failed',
      async ({ store, other, now }) => {
        const endpoint = anEndpoint();
        const account_id = await updated(store, endpoint);
        await killed('its maker writes a message', () => store.makeDeliveries(now));
        const late = now + CLAIM_LASTS;
        before('its maker stores it', async () => {
          const [claimed] = await claim(other, endpoint, late);
          await endTry(other, claimed, late, null);
          await eraseOn(other, account_id, late);
        });
        await store.makeDeliveries(now);
        expect(await deliveryOf(other, endpoint)).toMatchObject({ status: 'failed', body: null });
      },
    ],
    [
      'a delivery that is claimed before its maker writes the message is not claimed again',
      async ({ store, other, now }) => {
        const endpoint = anEndpoint();
        await updated(store, endpoint);
        const late = now + CLAIM_LASTS;
        let goOn = async () => {};
        before('its maker writes a message', async () => {
          goOn = await heldClaim(other, endpoint, late);
        });
        await store.makeDeliveries(now);
        expect(await claim(store, endpoint, late)).toEqual([]);
        await goOn();
      },
    ],
    [
      'a delivery that another claims before this claim drops it is not dropped',
      async ({ store, other, now }) => {
        const { endpoint, id } = await toldApplication(store, now);
        // Before the event: its own message, made at a claim, drops nothing.
        await store.setApplicationDisabled(id, true, now - 1);
        before('a claim drops it', async () => {
          await other.setApplicationDisabled(id, false, now);
          expect(await claim(other, endpoint, now + CLAIM_LASTS)).toHaveLength(1);
        });
        expect(await claim(store, endpoint, now)).toEqual([]);
        expect(await deliveryOf(other, endpoint)).toMatchObject({ status: 'pending' });
      },
    ],
    [
      'a delivery that another claims before this claim takes it back keeps its message',
      async ({ store, other, now }) => {
        const { endpoint, id } = await toldApplication(store, now);
        const late = now + 9 * DAY;
        before('a claim takes it back', async () => {
          await other.updateApplication(id, { idle_days: null });
          expect(await claim(other, endpoint, late + CLAIM_LASTS)).toHaveLength(1);
        });
        expect(await claim(store, endpoint, late)).toEqual([]);
        const { status, body } = await deliveryOf(other, endpoint);
        expect([status, body]).toEqual(['pending', expect.any(String)]);
      },
    ],
    [
      'a delivery that another claims before the end of a try is written stays claimed',
      async ({ store, other, now }) => {
        const endpoint = anEndpoint();
        await updated(store, endpoint);
        await store.makeDeliveries(now);
        const [lost] = await claim(store, endpoint, now);
        let claimed: ClaimedDelivery[] = [];
        before('the end of a try is written', async () => {
          claimed = await claim(other, endpoint, now + CLAIM_LASTS);
        });
        await endTry(store, lost, now, null);
        expect(claimed).toHaveLength(1);
        const { claim: holder, status } = await deliveryOf(other, endpoint);
        expect({ holder, status }).toEqual({
          holder: claimed[0]?.delivery.claim,
          status: 'pending',
        });
      },
    ],
    [
      'a message that is erased before a replay begins it anew stays failed',
      async ({ store, other, now }) => {
        const { endpoint, account_id } = await failed(store, now, null);
        before('a replay begins it anew', () => eraseOn(other, account_id, now));
        await store.replayDeliveries({ endpoint_id: endpoint.id, since: 0, now, limit: 9 });
        expect(await deliveryOf(other, endpoint)).toMatchObject({ status: 'failed', body: null });
      },
    ],
    [
      'a delivery that is claimed before a replay begins it anew stays claimed',
      async ({ store, other, now }) => {
        const next = now + 5_000;
        const { endpoint } = await failed(store, now, next);
        let claimed: ClaimedDelivery[] = [];
        before('a replay begins it anew', async () => {
          claimed = await claim(other, endpoint, next);
        });
        await store.replayDeliveries({ endpoint_id: endpoint.id, since: 0, now, limit: 9 });
        expect(claimed).toHaveLength(1);
        const { claim: holder } = await deliveryOf(other, endpoint);
        expect(holder).toBe(claimed[0]?.delivery.claim);
      },
    ],
    [
      'a delivery that is tried anew before a retry begins it anew keeps that try',
      async ({ store, other, now }) => {
        const { endpoint } = await failed(store, now, null);
        const { id } = await deliveryOf(store, endpoint);
        before('a retry begins it anew', () => triedAnew(other, endpoint, now));
        expect(await store.retryDelivery(id, now)).toBeNull();
        expect(await deliveryOf(other, endpoint)).toMatchObject({ tries: 1 });
      },
    ],
    [
      'a delivery that is tried anew before a replay begins it anew keeps that try, each time',
      async ({ store, other, now }) => {
        const { endpoint } = await failed(store, now, null);
        for (const _ of ['for the first time', 'again']) {
          before('a replay begins it anew', () => triedAnew(other, endpoint, now));
          await store.replayDeliveries({ endpoint_id: endpoint.id, since: 0, now, limit: 9 });
          expect(await deliveryOf(other, endpoint)).toMatchObject({ tries: 1 });
        }
      },
    ],
    [
      'a delivery that is due before a replay begins it anew keeps its tries',
      async ({ store, other, now }) => {
        const next = now + 5_000;
        const { endpoint } = await failed(store, now, next);
        before('a replay begins it anew', async () => {
          const [cut] = await claim(other, endpoint, next);
          // By a clock that was set back meanwhile.
          await other.releaseDeliveries(cut?.delivery.claim ?? '', [cut?.delivery.id ?? ''], now);
        });
        await store.replayDeliveries({ endpoint_id: endpoint.id, since: 0, now, limit: 9 });
        expect(await deliveryOf(other, endpoint)).toMatchObject({ due_at: now, tries: 1 });
      },
    ],
    [
      'a code that is redeemed before a mark removes it is a grant, which is revoked next',
      async ({ store, other, now }) => {
        const code = await issued(store);
        const work = workOf(code.account.id, now);
        // As on a server: the redemption has read its account before the mark.
        before('a mark removes codes', () => redeemed(other, code));
        expect(await store.doStep(work, 'grants', 9)).toMatchObject({ codes_cancelled: 0 });
        const { revoked } = await store.doStep(work, 'grants', 9);
        expect(revoked.map(({ grant_id }) => grant_id)).toEqual([code.grant_id]);
      },
    ],
    [
      'a grant that another revokes before a mark does keeps its first end',
      async ({ store, other, now }) => {
        const { grant } = await granted(store);
        const { grant_id } = grant;
        const first = now + 5;
        before('a mark revokes grants', () =>
          other.revokeGrant({ grant_id, application_id: null, now: first, initiator }),
        );
        const { revoked } = await store.doStep(workOf(grant.account.id, now), 'grants', 9);
        expect(revoked).toEqual([]);
        expect(await other.findGrantHistory(grant_id)).toMatchObject({ revoked_at: first });
      },
    ],
    [
      'a grant of an account that is put again before an erasure takes out names keeps its own',
      async ({ store, other, now }) => {
        const { grant } = await granted(store);
        const { account } = grant;
        const erasure = await store.markErasure({ account_id: account.id, now, initiator });
        before('an erasure takes out names', () =>
          granted(other, { account: { ...account, username: 'Ada' } }),
        );
        await finish(store, erasure);
        const [latest] = await other.listGrants({ account_id: account.id }, RANGE);
        expect(latest?.account.username).toBe('Ada');
      },
    ],
    [
      'a grant of an account that is erased again before an erasure notes its progress keeps no choice',
      async ({ database, store, other, now }) => {
        // Of a process whose clock is behind.
        const grant_id = anId();
        const { grant } = await granted(store);
        const { account } = grant;
        const of = { account_id: account.id, initiator };
        const erasure = await store.markErasure({ ...of, now });
        let later: Work | null = null;
        before('an erasure notes its progress', async () => {
          await granted(other, { account: { ...account, username: 'Ada' }, grant_id });
          later = await other.markErasure({ ...of, now: now + 1 });
        });
        await finish(store, erasure);
        await finish(store, later);
        expect(await database.membersOf('grants', grant_id)).not.toContain('choice');
      },
    ],
  ];

  describe('what happens between two steps of a call', () => {
    afterEach(() => expect(notReached()).toEqual([]));

    test.for(rows)('%s', async ([, run]) => {
      const database = await harness.fresh();
      const [store, other] = [
        await database.open({ recordsEvents: true }),
        await database.open({ recordsEvents: true }),
      ];
      try {
        await run({ database, store, other, now: Date.now() });
      } finally {
        await Promise.all([store.close(), other.close()]);
        await database.remove();
      }
    });
  });
}

/** Of a revocation of an account. */
const workOf = (account_id: string, at: number): Work =>
  ({
    ...{ kind: 'revocation', account_id, application_id: null, before: 1_000, at },
    ...{ by: anInitiator() },
  }) as Work;
