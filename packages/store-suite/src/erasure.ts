import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '@latchkey/store/store';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StoreProcess } from './child.ts';
import { erase, finish, finishAll } from './finish.ts';
import type { SuiteStores } from './harness.ts';
import { fillWithGrants } from './many-grants.ts';
import {
  aCode,
  aConsentPage,
  aHash,
  aLink,
  anAccount,
  anId,
  anInitiator,
  aPage,
  approvalOf,
  atOnce,
  granted,
  identificationOf,
  identified,
  inPortions,
  issued,
  newCode,
  openingOf,
  recoveryOf,
  redemptionOf,
} from './records.ts';

const ROUNDS = 60;

const anAda = () => anAccount({ username: 'Ada', display_name: 'Ada L.', twitter: 'adal' });

export function describeErasure(stores: SuiteStores): void {
  const range = { limit: 100, before: null };

  /** Everything that the store has about an account. */
  async function about(store: Store, account_id: string): Promise<string> {
    return JSON.stringify([
      await store.findAccount(account_id),
      await store.listCodes(account_id),
      await store.listGrants({ account_id }, range),
    ]);
  }

  describe('an erased account', () => {
    test('is gone, its codes too, and its grants are revoked without their names', async () => {
      const account = anAda();
      const [active, revoked] = [
        await granted(stores.store, { account }),
        await granted(stores.store, { account }),
      ];
      await stores.store.revokeGrant({
        ...revoked.grant,
        now: revoked.grant.created_at,
        initiator: anInitiator(),
      });
      const code = await issued(stores.store, { account });
      const bystander = await granted(stores.store);
      const now = active.grant.created_at + 7;
      const initiator = anInitiator({ by: 'operator', secret_id: null });

      const account_id = account.id;
      expect(await erase(stores.store, { account_id, now, initiator })).toBe(1);

      expect(await stores.other.findAccount(account_id)).toBeNull();
      expect(await stores.other.listCodes(account_id)).toEqual([]);
      expect(await stores.other.redeemCode(redemptionOf(code))).toBeNull();
      const erased = { ...account, username: 'erased', display_name: 'erased', twitter: null };
      expect(await stores.other.listGrants({ account_id }, range)).toEqual([
        { ...revoked.grant, revoked_at: revoked.grant.created_at, account: erased, choice: null },
        { ...active.grant, revoked_at: now, account: erased, choice: null },
      ]);
      const { grant_id } = active.grant;
      for (const currentAccount of [true, false]) {
        expect(await stores.other.authenticateGrant(grant_id, { currentAccount })).toMatchObject({
          secret_hash: null,
          account: currentAccount ? null : erased,
          grant: { choice: null },
        });
      }
      expect(await stores.store.recoverGrant(recoveryOf(active.grant))).toBeNull();
      const history = await stores.store.findGrantHistory(grant_id);
      expect(history).toMatchObject({ revoked_at: now, revoked_by: initiator });
      const other = bystander.grant;
      expect(await stores.store.listGrants({ account_id: other.account.id }, range)).toEqual([
        other,
      ]);
    });

    test('is not in the list, and not issued codes about', async () => {
      const account = anAccount({ username: anId() });
      await stores.store.putAccount(account);
      await erase(stores.store, { account_id: account.id, now: 1, initiator: anInitiator() });
      expect(await stores.other.listAccounts({ username: account.username }, range)).toEqual([]);
      expect(
        (await stores.other.listAccounts({}, range)).map((entry) => entry.account.id),
      ).not.toContain(account.id);
      expect(await stores.other.issueCode(newCode(aCode({ account })))).toBeNull();
    });

    test('takes its pages along, and the link requests that name it', async () => {
      const account = anAda();
      const account_id = account.id;
      const named = await identified(stores.store, {}, account);
      const page = aPage({ account_id });
      await stores.store.createPage({ ...page, initiator: anInitiator() });
      // Another account was identified since, but the hint may be about this one.
      const moved = await identified(stores.store, {}, account);
      const stranger = anAccount();
      await stores.store.putAccount(stranger);
      const latest = aConsentPage(moved.link, { account_id: stranger.id });
      await stores.store.identifyLink(identificationOf(moved.link, latest));
      // The host approves, and only the code is there yet.
      const approved = aLink();
      await stores.store.createLink({ ...approved, initiator: anInitiator() });
      await issued(stores.store, { account, link_id: approved.id });
      const decided = aLink();
      await stores.store.createLink({ ...decided, initiator: anInitiator() });
      await stores.store.decideLink(approvalOf(decided, account_id));
      const bystander = await identified(stores.store);
      const open = aLink();
      await stores.store.createLink({ ...open, initiator: anInitiator() });

      await erase(stores.store, { account_id, now: 1, initiator: anInitiator() });

      for (const { id } of [named.link, moved.link, approved, decided]) {
        expect(await stores.other.findLink(id)).toBeNull();
      }
      for (const { id } of [named.page, moved.page, page]) {
        expect(await stores.other.findPage(id)).toBeNull();
      }
      expect(await stores.store.decideLink(approvalOf(approved, account_id))).toBeNull();
      expect(await stores.store.openPage(openingOf(named.page))).toBeNull();
      const late = aConsentPage(open, { account_id });
      expect(await stores.store.identifyLink(identificationOf(open, late))).toBeNull();
      expect(
        await stores.store.createPage({ ...aPage({ account_id }), initiator: anInitiator() }),
      ).toBeNull();
      expect(await stores.other.findLink(open.id)).toEqual(open);
      expect(await stores.other.findLink(bystander.link.id)).toEqual(bystander.link);
      expect(await stores.other.findPage(bystander.page.id)).toEqual(bystander.page);
    });

    test('takes along what the host approved for it after another account was identified', async () => {
      // The other one was put more often: how often decides nothing about this one.
      const other = anAccount();
      for (let time = 0; time < 3; time++) await stores.store.putAccount(other);
      const { link: first, page } = await identified(stores.store, {}, other);
      const link = { ...first, link_hash: aHash() };
      // Otherwise nobody else can be approved.
      await stores.store.switchLink({
        ...{ link_id: link.id, page_id: page.id, link_hash: link.link_hash },
        ...{ now: link.expires_at - 1_000, initiator: anInitiator() },
      });
      const account = anAda();
      const code = await issued(stores.store, { account, link_id: link.id });
      expect(await stores.store.decideLink(approvalOf(link, account.id))).not.toBeNull();
      expect(await stores.store.redeemCode(redemptionOf(code))).not.toBeNull();
      await erase(stores.store, { account_id: account.id, now: 1, initiator: anInitiator() });
      expect(await stores.other.findLink(link.id)).toBeNull();
    });

    test('is named by no link request and no page, whatever was under way', async () => {
      await inPortions(ROUNDS, async (round) => {
        const account = anAda();
        const account_id = account.id;
        await stores.store.putAccount(account);
        const [identifying, approving] = [aLink(), aLink()];
        await stores.store.createLink({ ...identifying, initiator: anInitiator() });
        await stores.store.createLink({ ...approving, initiator: anInitiator() });
        const consent = aConsentPage(identifying, { account_id });
        const page = aPage({ account_id });
        const [one, two] = [stores.handle(round), stores.handle(round + 1)];
        const [identifiedLink, kept, approved] = await Promise.all([
          two.identifyLink(identificationOf(identifying, consent)),
          two.createPage({ ...page, initiator: anInitiator() }),
          // As the host's approval does: the code, and then the decision.
          two
            .issueCode(newCode(aCode({ account, link_id: approving.id })))
            .then((code) => code && two.decideLink(approvalOf(approving, account_id))),
          // At another moment in each round.
          sleep((round * 7) % 60).then(() =>
            erase(one, { account_id, now: 1, initiator: anInitiator() }),
          ),
        ]);
        for (const { id } of [consent, page]) {
          expect(await stores.other.findPage(id)).toBeNull();
        }
        const found = await stores.other.findLink(identifying.id);
        // What was not identified may be left, open; or gone, if its page was under way.
        expect([null, identifying]).toContainEqual(found);
        if (identifiedLink) expect(found).toBeNull();
        const other = await stores.other.findLink(approving.id);
        expect([null, approving]).toContainEqual(other);
        if (approved) expect(other).toBeNull();
        if (kept) expect(kept).toEqual(page);
      });
    });

    test('can be erased again, which begins no work, and so can one that was never known', async () => {
      const { grant } = await granted(stores.store);
      const erasure = { account_id: grant.account.id, now: 1, initiator: anInitiator() };
      const repeat = () =>
        stores.other.markErasure({ ...erasure, now: 2, initiator: anInitiator() });
      const isListed = async (account_id: string) =>
        (await stores.store.listWork(1_000)).some((work) => work.account_id === account_id);
      const work = await stores.store.markErasure(erasure);
      expect(await repeat()).toEqual(work);
      expect((await finish(stores.store, work)).revoked).toHaveLength(1);
      expect(await repeat()).toEqual({ ...work, is_done: true });
      expect(await isListed(work.account_id as string)).toBe(false);
      expect(await stores.store.findGrantHistory(grant.grant_id)).toMatchObject({ revoked_at: 1 });

      const account = anAccount();
      const unknown = { ...erasure, account_id: account.id };
      expect(await stores.store.markErasure(unknown)).toMatchObject({ is_done: true });
      expect(await isListed(account.id)).toBe(false);
      await stores.store.putAccount(account);
      const again = await stores.store.markErasure(unknown);
      expect(again).not.toHaveProperty('is_done');
      await finish(stores.store, again);
    });

    test('can be put again as a new account, and be erased again', async () => {
      const account = anAda();
      const before = await granted(stores.store, { account });
      await erase(stores.store, { account_id: account.id, now: 1, initiator: anInitiator() });
      const after = await granted(stores.store, { account });
      expect(await stores.other.findAccount(account.id)).toEqual(account);
      const grants = await stores.other.listGrants({ account_id: account.id }, range);
      expect(grants.map(({ grant_id, revoked_at }) => [grant_id, revoked_at])).toEqual([
        [after.grant.grant_id, null],
        [before.grant.grant_id, 1],
      ]);
      expect(
        await erase(stores.store, {
          account_id: account.id,
          now: 2,
          initiator: anInitiator(),
        }),
      ).toBe(1);
      expect(await about(stores.other, account.id)).not.toContain('Ada');
    });

    test('leaves no code and no name, whatever was under way', async () => {
      await inPortions(ROUNDS, async (round) => {
        const account = anAda();
        const account_id = account.id;
        const live = await granted(stores.store, { account });
        const pending = await issued(stores.store, { account });
        const fresh = aCode({ account });
        const [one, two] = [stores.handle(round), stores.handle(round + 1)];
        const [revoked, redeemed, code, late] = await Promise.all([
          erase(one, { account_id, now: 1, initiator: anInitiator() }),
          two.redeemCode(redemptionOf(pending)),
          two.issueCode(newCode(fresh)),
          two.issueCode(newCode(aCode({ account }))).then(
            // A code that is converted as soon as it is issued.
            (issuedCode) => issuedCode && two.redeemCode(redemptionOf(issuedCode)),
          ),
          one.recoverGrant(recoveryOf(live.grant)),
        ]);
        // It has what was redeemed before it, and nothing else was redeemed.
        expect(revoked).toBe(1 + Number(redeemed !== null) + Number(late !== null));
        expect(await about(stores.other, account_id)).not.toContain('Ada');
        expect(await stores.other.listCodes(account_id)).toEqual([]);
        if (code) expect(await stores.other.redeemCode(redemptionOf(code))).toBeNull();
        const grants = await stores.other.listGrants({ account_id }, range);
        expect(grants).toHaveLength(revoked);
        expect(grants.filter(({ revoked_at }) => revoked_at === null)).toEqual([]);
      });
    });
  });

  test('an erasure of many grants is complete, and can be repeated', async () => {
    await stores.withFresh(async (database) => {
      const count = 2_000;
      const { account } = await fillWithGrants(await database.openTarget(), count);
      const account_id = account.id;
      const store = await database.open();
      const eraseIt = () => erase(store, { account_id, now: 1, initiator: anInitiator() });
      expect(await eraseIt()).toBe((count * 3) / 4);
      const grants = await store.listGrants({ account_id }, { limit: count, before: null });
      expect(grants).toHaveLength(count);
      expect(grants.filter(({ revoked_at }) => revoked_at === null)).toEqual([]);
      expect(new Set(grants.map((grant) => grant.account.username))).toEqual(new Set(['erased']));
      expect(await eraseIt()).toBe(0);
      await store.close();
    });
  });

  stores.describeUnless('kills', 'an erasure whose process is killed', () => {
    const processes: StoreProcess[] = [];
    const start = async () => {
      const process = await StoreProcess.start(stores.database);
      processes.push(process);
      return process;
    };
    let accounts: { id: string; grants: number }[] = [];
    beforeAll(async () => {
      accounts = await atOnce(12, async () => {
        const account = anAda();
        const grants = 4;
        for (let count = 0; count < grants; count++) await granted(stores.store, { account });
        await issued(stores.store, { account });
        return { id: account.id, grants };
      });
    });
    afterAll(() => Promise.all(processes.map((process) => process.kill().catch(() => {}))));

    test('holds from its mark on, and is finished by another process', async () => {
      const process = await start();
      await process.load(
        accounts.map(({ id }) => ({
          method: 'markErasure' as const,
          args: [{ account_id: id, now: 1, initiator: anInitiator() }],
        })),
      );
      let killed: Promise<void> | null = null;
      const acknowledged = new Set<number>();
      await process
        .go((index) => {
          acknowledged.add(index);
          killed ??= process.kill();
        })
        .catch(() => {
          // It was killed before all of its calls ended.
        });
      await killed;
      processes.length = 0;
      const endOf = async (id: string) =>
        (await stores.store.listGrants({ account_id: id }, range)).map(
          ({ revoked_at }) => revoked_at,
        );
      for (const isFinished of [false, true]) {
        if (isFinished) await finishAll(stores.store);
        for (const index of acknowledged) {
          const { id, grants } = accounts[index] as (typeof accounts)[number];
          expect(await about(stores.store, id)).not.toContain('Ada');
          expect(await endOf(id)).toEqual(Array.from({ length: grants }, () => 1));
        }
      }
      for (const { id } of accounts) {
        await erase(stores.store, { account_id: id, now: 2, initiator: anInitiator() });
        expect(await about(stores.store, id)).not.toContain('Ada');
        expect(await endOf(id)).not.toContain(null);
      }
    });
  });
}
