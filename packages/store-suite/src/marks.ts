import { isDeepStrictEqual } from 'node:util';
import { endReason } from '@latchkey/store/end-reason';
import { deletionWork, type Work } from '@latchkey/store/endings';
import type { EndReason } from '@latchkey/store/records';
import type { Parties, Store } from '@latchkey/store/store';
import { describe, expect, test } from 'vitest';
import { finish, finishAll } from './finish.ts';
import type { SuiteStores } from './harness.ts';
import {
  aCode,
  anAccount,
  anApplication,
  anId,
  anInitiator,
  aPage,
  atOnce,
  authenticated,
  granted,
  identified,
  inPortions,
  issued,
  newCode,
  recoveryOf,
  redeemed,
  redemptionOf,
} from './records.ts';

const RANGE = { limit: 20, before: null };

type Pair = Awaited<ReturnType<typeof aPair>>;

async function aPair(store: Store) {
  const [account, application] = [anAccount({ username: 'Ada' }), anApplication()];
  await store.createApplication(application);
  const of = { account, application_id: application.id };
  const { grant, secret_hash } = await granted(store, of);
  const { grant: used } = await granted(store, of);
  const code = await issued(store, of);
  return { account, application, of, grant, secret_hash, used, code };
}

const initiator = anInitiator({ by: 'operator' });

/** Every mark that ends what a pair has. */
const marks: {
  readonly [name: string]: {
    reason: EndReason;
    /** Whether something new can be made for the pair after it. */
    isOver?: true;
    mark(store: Store, pair: Pair, now: number): Promise<Work | null>;
  };
} = {
  'the erasure of an account': {
    ...{ reason: 'account_erased', isOver: true },
    mark: (store, { account }, now) =>
      store.markErasure({ account_id: account.id, now, initiator }),
  },
  'the deletion of an application': {
    ...{ reason: 'application_deleted', isOver: true },
    async mark(store, { application }, now) {
      await store.setApplicationDisabled(application.id, true, now);
      const deletion = { application_id: application.id, deleted_at: now, deleted_by: initiator };
      await store.deleteApplication(deletion);
      return deletionWork(deletion, application.revocations);
    },
  },
  'a revocation of all of an account': {
    reason: 'host',
    mark: (store, { account }, now) =>
      store.markRevocation({ account_id: account.id, now, initiator }),
  },
  'a revocation of all of an application': {
    reason: 'host',
    mark: (store, { application }, now) =>
      store.markRevocation({ application_id: application.id, now, initiator }),
  },
  'a disconnect': {
    reason: 'host',
    mark: (store, { account, application }, now) =>
      store.markRevocation({
        ...{ account_id: account.id, application_id: application.id, now, initiator },
      }),
  },
};

export function describeMarks(stores: SuiteStores): void {
  /** What is issued now, for an application as it is now. */
  async function issuedNow(store: Store, { account, application }: Pair) {
    const now = await store.findApplication(application.id);
    const code = aCode({
      ...{ account, application_id: application.id },
      application_revocations: now?.revocations ?? 0,
    });
    return (await store.issueCode(newCode(code))) && code;
  }

  async function expectEnded(store: Store, pair: Pair, at: number, reason: EndReason) {
    const { account, application, grant, used, code } = pair;
    const parties = { account_id: account.id, application_id: application.id };
    for (const { grant_id } of [grant, used]) {
      for (const currentAccount of [true, false]) {
        expect(await store.authenticateGrant(grant_id, { currentAccount })).toMatchObject({
          ...{ secret_hash: null, grant: { revoked_at: at } },
        });
      }
      const history = await store.findGrantHistory(grant_id);
      expect(history).toMatchObject({ revoked_at: at, revoked_by: initiator });
      expect(history && endReason(history)).toBe(reason);
      const revocation = { grant_id, application_id: null, now: at + 9, initiator: anInitiator() };
      expect(await store.revokeGrant({ ...revocation, onlyActive: true })).toBeNull();
      expect(await store.revokeGrant(revocation)).toMatchObject({ grant_id, revoked_at: at });
    }
    expect(await store.recoverGrant(recoveryOf(grant))).toBeNull();
    expect(await store.listActiveGrants(parties, RANGE)).toEqual([]);
    expect(await store.listActiveGrants({ application_id: application.id }, RANGE)).toEqual([]);
    const ids = [grant, used].map(({ grant_id }) => [grant_id, at]).toSorted();
    for (const filter of [{ account_id: account.id }, { application_id: application.id }]) {
      const listed = await store.listGrants(filter, RANGE);
      expect(listed.map((one) => [one.grant_id, one.revoked_at]).toSorted()).toEqual(ids);
    }
    const histories = await store.listGrantHistories(account.id, RANGE);
    expect(histories.map((one) => [one.grant_id, one.revoked_at]).toSorted()).toEqual(ids);
    // A code that is ended is none.
    expect(await store.findCode(code.grant_id)).toBeNull();
    expect(await store.findGrantHistory(code.grant_id)).toBeNull();
    expect(await store.listCodes(account.id)).toEqual([]);
    expect(await store.redeemCode(redemptionOf(code))).toBeNull();
    expect(await store.cancelCode(code.grant_id)).toBeNull();
  }

  describe.each(Object.entries(marks))('%s', (_, { reason, isOver = false, mark }) => {
    test('holds from its answer on, done or not, and spares all else', async () => {
      const pair = await aPair(stores.store);
      const bystander = await aPair(stores.store);
      const work = await mark(stores.store, pair, 7);
      for (const isFinished of [false, true]) {
        if (isFinished) {
          const done = await finish(stores.other, work, 1);
          expect(done).toMatchObject({ codes_cancelled: 1 });
          expect(done.revoked.map(({ revoked_at }) => revoked_at)).toEqual([7, 7]);
        }
        await expectEnded(stores.other, pair, 7, reason);
        const found = await authenticated(stores.other, bystander.grant.grant_id);
        expect(found?.secret_hash).toEqual(bystander.secret_hash);
        expect(await stores.other.findCode(bystander.code.grant_id)).not.toBeNull();
        const isListed = (await stores.store.listWork(1_000)).some((one) =>
          isDeepStrictEqual(one, work),
        );
        expect(isListed).toBe(!isFinished);
      }
    });

    test('ends nothing that is made after it, while its work is done', async () => {
      const pair = await aPair(stores.store);
      const work = await mark(stores.store, pair, 7);
      const code = await issuedNow(stores.other, pair);
      if (isOver) {
        const isMade = code && (await stores.other.redeemCode(redemptionOf(code)));
        expect(isMade).toBeNull();
        return;
      }
      if (code === null) throw new Error('It can be issued.');
      const pending = (await issuedNow(stores.other, pair)) ?? code;
      const { grant_id } = code;
      const { secret_hash } = await redeemed(stores.other, code);
      for (let round = 0; round < 2; round++) {
        const found = await authenticated(stores.store, grant_id);
        expect(found?.secret_hash).toEqual(secret_hash);
        const active = await stores.store.listActiveGrants(
          { application_id: code.application_id },
          RANGE,
        );
        expect(active.map((one) => one.grant_id)).toEqual([grant_id]);
        expect(await stores.store.findCode(pending.grant_id)).not.toBeNull();
        await finish(stores.store, work);
      }
      expect(await stores.other.redeemCode(redemptionOf(pending))).not.toBeNull();
    });

    test.each([-5_000, 5_000])('orders by no clock: one that is %i ms ahead', async (ahead) => {
      const pair = await aPair(stores.store);
      const code = await issuedNow(stores.store, pair);
      if (code === null) throw new Error('It can be issued.');
      const now = Date.now();
      // By a process with another clock than that of the mark.
      const before = redemptionOf(code, { now: now + ahead });
      expect(await stores.other.redeemCode(before)).not.toBeNull();
      const work = await mark(stores.store, pair, now);
      const later = isOver ? null : await issuedNow(stores.other, pair);
      const after = later && redemptionOf(later, { now: now + ahead });
      if (after) expect(await stores.other.redeemCode(after)).not.toBeNull();
      for (let round = 0; round < 2; round++) {
        const ended = await authenticated(stores.other, before.grant_id);
        expect(ended).toMatchObject({ secret_hash: null, grant: { revoked_at: now } });
        if (after) {
          const alive = await authenticated(stores.other, after.grant_id);
          expect(alive?.secret_hash).toEqual(after.secret_hash);
        }
        await finish(stores.store, work);
      }
    });

    test('is written down once by two processes that do its work at the same time', async () => {
      await inPortions(8, async (round) => {
        const pair = await aPair(stores.store);
        const late = await issued(stores.store, pair.of);
        const work = await mark(stores.handle(round), pair, 7);
        const [, , grant] = await Promise.all([
          finish(stores.store, work, 1),
          finish(stores.other, work, 2),
          stores.handle(round).redeemCode(redemptionOf(late)),
        ]);
        expect(grant).toBeNull();
        await expectEnded(stores.other, { ...pair, code: late }, 7, reason);
      });
    });

    test('ends each code that is redeemed at the same time, or lets it be none', async () => {
      await inPortions(20, async (round) => {
        const pair = await aPair(stores.store);
        const codes = await atOnce(3, () => issued(stores.store, pair.of));
        const [work, ...grants] = await Promise.all([
          mark(stores.handle(round), pair, 7),
          ...codes.map((code) => stores.handle(round + 1).redeemCode(redemptionOf(code))),
        ]);
        for (let time = 0; time < 2; time++) {
          for (const [index, grant] of grants.entries()) {
            const { grant_id } = codes[index] as (typeof codes)[number];
            if (grant === null) expect(await stores.other.findCode(grant_id)).toBeNull();
            else expect((await authenticated(stores.other, grant_id))?.grant.revoked_at).toBe(7);
          }
          await finish(stores.store, work);
        }
      });
    });
  });

  describe('several marks', () => {
    const markOf = (store: Store, parties: Parties, now: number) =>
      store.markRevocation({ ...parties, now, initiator });

    test('each end what was made before them, in whatever order their work is done', async () => {
      const pair = await aPair(stores.store);
      const { account, application } = pair;
      const parties: Parties[] = [
        { account_id: account.id, application_id: application.id },
        { account_id: account.id },
        { application_id: application.id },
      ];
      // The first one's clock is ahead of the second's.
      const times = [20, 10, 30];
      const works: (Work | null)[] = [];
      const made = [pair.grant.grant_id];
      for (const [index, of] of parties.entries()) {
        works.push(await markOf(stores.handle(index), of, times[index] as number));
        const code = await issuedNow(stores.store, pair);
        if (code) made.push((await redeemed(stores.store, code)).grant.grant_id);
      }
      const ends = () =>
        Promise.all(
          made.map(async (id) => (await authenticated(stores.other, id))?.grant.revoked_at),
        );
      const expected = [20, 10, 30, null];
      expect(await ends()).toEqual(expected);
      for (const work of works.toReversed()) {
        await finish(stores.store, work, 1);
        expect(await ends()).toEqual(expected);
      }
    });

    test('of an account and of an application end a grant by the earlier of the two', async () => {
      const { store, other } = stores;
      const ofAccount = marks['the erasure of an account'];
      const ofApplication = marks['a revocation of all of an application'];
      for (const [earlier, reason] of [
        [1, 'host'],
        [0, 'account_erased'],
        [-1, 'account_erased'],
      ] as const) {
        const pair = await aPair(store);
        const now = Date.now();
        await ofApplication?.mark(store, pair, now - earlier);
        const work = await ofAccount?.mark(other, pair, now);
        if (work) await finish(store, work);
        const ended = await store.findGrantHistory(pair.grant.grant_id);
        expect(ended?.revoked_at).toBe(now - Math.max(earlier, 0));
        expect(ended && endReason(ended)).toBe(reason);
      }
    });

    test('of nine applications of an account, at once, hold and are finished', async () => {
      const account = anAccount();
      const made = await atOnce(9, () => granted(stores.store, { account }));
      const of = (application_id: string) => ({ account_id: account.id, application_id });
      await Promise.all(
        made.map(({ grant }, index) => markOf(stores.handle(index), of(grant.application_id), 7)),
      );
      const unfinished = async () =>
        (await stores.store.listWork(1_000)).filter(({ account_id }) => account_id === account.id);
      expect((await unfinished()).length).toBeLessThanOrEqual(8);
      for (const { grant } of made) {
        const found = await authenticated(stores.other, grant.grant_id);
        expect(found?.grant.revoked_at).toBe(7);
      }
      await finishAll(stores.other);
      expect(await unfinished()).toEqual([]);
      const connected = await stores.store.listConnected(account.id, { limit: 1, after: null });
      expect(connected).toEqual({ connected: [], next: null });
    });

    test('leave an erasure unfinished after which the account was put again', async () => {
      const account = anAccount();
      await stores.store.putAccount(account);
      const erasure = { account_id: account.id, now: 7, initiator };
      const work = await stores.store.markErasure(erasure);
      await stores.store.putAccount(account);
      for (let mark = 0; mark < 9; mark++) {
        const of = { account_id: account.id, application_id: anId() };
        await markOf(stores.handle(mark), of, 8);
      }
      const unfinished = async () =>
        (await stores.store.listWork(1_000)).filter(({ account_id }) => account_id === account.id);
      const found = await unfinished();
      expect(found).toHaveLength(8);
      expect(found).toContainEqual(work);
      await finishAll(stores.other);
      expect(await unfinished()).toEqual([]);
    });

    test('of erased accounts hide no others, however many there are', async () => {
      await stores.withFresh(async (database) => {
        const store = await database.open();
        const erased = [];
        for (const now of [1, 2, 3]) {
          const account = anAccount();
          await store.putAccount(account);
          erased.push(await store.markErasure({ account_id: account.id, now, initiator }));
        }
        const { account, application } = await aPair(store);
        const others = [
          await markOf(store, { account_id: account.id }, 4),
          await markOf(store, { application_id: application.id }, 5),
        ];
        expect(await store.listWork(2)).toEqual([...erased.slice(0, 2), ...others]);
        await store.close();
      });
    });

    test('of nobody begin nothing', async () => {
      expect(await markOf(stores.store, { account_id: anId() }, 7)).toBeNull();
      expect(await markOf(stores.store, { application_id: anId() }, 7)).toBeNull();
    });

    test('can be made again with the number of a former one, which writes nothing', async () => {
      for (const isDone of [false, true]) {
        for (const of of ['account', 'application', 'pair'] as const) {
          const pair = await aPair(stores.store);
          const parties: Parties = {
            account: { account_id: pair.account.id },
            application: { application_id: pair.application.id },
            pair: { account_id: pair.account.id, application_id: pair.application.id },
          }[of];
          const work = await markOf(stores.store, parties, 7);
          if (work === null) throw new Error('There is something to end.');
          if (isDone) await finish(stores.store, work);
          const code = await issuedNow(stores.store, pair);
          const mark = { ...parties, now: 9, initiator };
          const again = await stores.other.markRevocation({ ...mark, before: work.before });
          if (!isDone) {
            expect(again).toEqual(work);
            // The one after it is still unknown.
            const next = { ...mark, before: work.before + 1, ifKnown: true };
            expect(await stores.other.markRevocation(next)).toBeNull();
          }
          expect(await stores.other.findCode(code?.grant_id ?? '')).not.toBeNull();
          await finish(stores.store, again);
          const found = await authenticated(stores.other, pair.grant.grant_id);
          expect(found?.grant.revoked_at).toBe(7);
        }
      }
    });

    test('can be made again though so many came later that it is not kept', async () => {
      const { application } = await aPair(stores.store);
      const parties = { application_id: application.id };
      const works: (Work | null)[] = [];
      for (let mark = 0; mark < 9; mark++) {
        works.push(await markOf(stores.store, parties, 7));
        await finish(stores.store, works.at(-1) ?? null);
      }
      const [first, last] = [works[0]?.before ?? 0, works.at(-1)?.before ?? 0];
      const again = { ...parties, now: 9, initiator };
      const made = await stores.other.markRevocation({ ...again, before: first });
      await finish(stores.other, made);
      const next = { ...again, before: last + 1, ifKnown: true };
      expect(await stores.other.markRevocation(next)).toBeNull();
    });

    test('can have a number that the record has not had, and spare what is made later', async () => {
      for (const of of ['account', 'application'] as const) {
        const pair = await aPair(stores.store);
        const { account, application } = pair;
        const parties =
          of === 'account' ? { account_id: account.id } : { application_id: application.id };
        const work = await stores.store.markRevocation({
          ...parties,
          now: 7,
          initiator,
          before: 50,
        });
        const code = await issuedNow(stores.store, pair);
        for (let round = 0; round < 2; round++) {
          const found = await authenticated(stores.other, pair.grant.grant_id);
          expect(found?.grant.revoked_at).toBe(7);
          expect(await stores.other.findCode(code?.grant_id ?? '')).not.toBeNull();
          await finish(stores.store, work);
        }
      }
    });

    test('can be an erasure with such a number, of an account that is put later', async () => {
      for (const isKnown of [false, true]) {
        const account = anAccount();
        if (isKnown) await stores.store.putAccount(account);
        await stores.store.markErasure({ account_id: account.id, now: 7, initiator, before: 50 });
        await stores.other.putAccount(account);
        const { grant } = await granted(stores.store, { account });
        const found = await authenticated(stores.other, grant.grant_id);
        expect(found?.grant.revoked_at).toBeNull();
      }
    });
  });

  test('an erasure whose work is not done shows no names, and no page or link of the account works', async () => {
    const { account, of, grant } = await aPair(stores.store);
    const { link, page } = await identified(stores.store, {}, account);
    const own = aPage({ account_id: account.id });
    await stores.store.createPage({ ...own, initiator });
    await stores.store.markErasure({ account_id: account.id, now: 7, initiator });
    const shown = JSON.stringify([
      await stores.other.findAccount(account.id),
      await stores.other.listGrants({ account_id: account.id }, RANGE),
      await stores.other.listGrants({ application_id: of.application_id }, RANGE),
      await stores.other.authenticateGrant(grant.grant_id, { currentAccount: false }),
    ]);
    expect(shown).not.toContain('Ada');
    expect(shown).not.toContain(grant.choice?.label);
    expect(await stores.other.findLink(link.id)).toBeNull();
    for (const { id } of [page, own]) expect(await stores.other.findPageAccount(id)).toBeNull();
  });

  describe('a lease', () => {
    test('is of one holder, until it is over or released', async () => {
      const name = anId();
      const take = (holder: string, now: number) =>
        stores.store.takeLease({ name, holder, now, lasts: 10 });
      expect(await take('one', 0)).toBe(true);
      expect(await take('two', 9)).toBe(false);
      expect(await take('one', 9)).toBe(true);
      expect(await take('two', 18)).toBe(false);
      await stores.other.releaseLease({ name, holder: 'two' });
      expect(await take('two', 18)).toBe(false);
      await stores.other.releaseLease({ name, holder: 'one' });
      expect(await take('two', 18)).toBe(true);
      expect(await take('one', 28)).toBe(true);
    });

    test('of a clock far ahead is over a minute after it would be', async () => {
      const name = anId();
      const take = (holder: string, now: number) =>
        stores.store.takeLease({ name, holder, now, lasts: 10 });
      expect(await take('ahead', 60_001)).toBe(true);
      expect(await take('two', 1)).toBe(false);
      expect(await take('two', 0)).toBe(true);
    });

    test('is taken by one of many at once', async () => {
      const name = anId();
      const taken = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          stores.handle(index).takeLease({ name, holder: `${index}`, now: 0, lasts: 10 }),
        ),
      );
      expect(taken.filter(Boolean)).toHaveLength(1);
    });
  });
}
