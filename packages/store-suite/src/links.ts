import type { LinkRecord } from '@latchkey/store/records';
import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import {
  aConsentPage,
  aHash,
  aLink,
  anAccount,
  anId,
  anInitiator,
  approvalOf,
  atOnce,
  denialOf,
  identificationOf,
  identified,
  openingOf,
  present,
} from './records.ts';

const ROUNDS = 20;

export function describeLinks(stores: SuiteStores): void {
  const opened = async (members: Partial<LinkRecord> = {}) => {
    const link = aLink(members);
    await stores.store.createLink({ ...link, initiator: anInitiator() });
    return link;
  };
  const known = async () => {
    const account = anAccount();
    await stores.store.putAccount(account);
    return account;
  };
  const switchOf = (link: LinkRecord, page_id: string, members = {}) => ({
    ...{ link_id: link.id, page_id, link_hash: aHash(), now: link.expires_at - 1_000 },
    ...members,
  });

  describe('a link request', () => {
    test('is found as it was kept', async () => {
      const full = await opened();
      expect(await stores.other.findLink(full.id)).toEqual(full);
      const bare = await opened({
        ...{ redirect_uri_given: false, state: null, code_challenge: null },
        ...{ login_hint: null, ui_locales: null },
      });
      expect(await stores.other.findLink(bare.id)).toEqual(bare);
      expect(await stores.other.findLink(anId())).toBeNull();
    });
  });

  describe('identifying an account', () => {
    test('keeps the page, and makes it the latest', async () => {
      const link = await opened();
      const account = await known();
      const page = aConsentPage(link, { account_id: account.id });
      const identification = identificationOf(link, page, { initiator: anInitiator() });
      const expected = { ...link, account_id: account.id, page_id: page.id };
      expect(await stores.store.identifyLink(identification)).toEqual(expected);
      expect(await stores.other.findLink(link.id)).toEqual(expected);
      expect(await stores.other.findPage(page.id)).toEqual(page);
    });

    test('again, also with another account: the last one counts', async () => {
      const { link, page } = await identified(stores.store);
      const other = await known();
      const latest = aConsentPage(link, { account_id: other.id });
      for (let time = 0; time < 3; time++) {
        const again = { ...latest, id: anId() };
        await stores.handle(time).identifyLink(identificationOf(link, again));
      }
      const found = await stores.other.identifyLink(identificationOf(link, latest));
      expect(found).toMatchObject({ account_id: other.id, page_id: latest.id });
      expect(await stores.store.decideLink(approvalOf(link, page.account_id, page))).toBeNull();
      expect(await stores.store.decideLink(approvalOf(link, other.id, latest))).not.toBeNull();
    });

    test('changes nothing, and keeps no page, unless every condition holds', async () => {
      const account = await known();
      const { id: account_id } = account;
      const open = await opened();
      const { link: decided } = await identified(stores.store, {}, account);
      await stores.store.decideLink(denialOf(decided));
      const refused = [
        [open, identificationOf(open, aConsentPage(open, { account_id }), { link_hash: aHash() })],
        [open, identificationOf(open, aConsentPage(open))],
        [
          open,
          identificationOf(open, aConsentPage(open, { account_id }), { now: open.expires_at }),
        ],
        [decided, identificationOf(decided, aConsentPage(decided, { account_id }))],
      ] as const;
      for (const [link, identification] of refused) {
        const before = await stores.store.findLink(link.id);
        expect(await stores.store.identifyLink(identification)).toBeNull();
        expect(await stores.other.findLink(link.id)).toEqual(before);
        expect(await stores.other.findPage(identification.page.id)).toBeNull();
      }
      const unknown = aLink();
      const page = aConsentPage(unknown, { account_id });
      expect(await stores.store.identifyLink(identificationOf(unknown, page))).toBeNull();
      const last = identificationOf(open, aConsentPage(open, { account_id }), {
        now: open.expires_at - 1,
      });
      expect(await stores.store.identifyLink(last)).not.toBeNull();
    });
  });

  describe('asking for another account', () => {
    test('replaces the link; the former one is dead, and the page once there is another', async () => {
      const { link, page, account } = await identified(stores.store);
      const change = switchOf(link, page.id, { initiator: anInitiator() });
      const { link_hash } = change;
      const expected = { ...link, link_hash, switched: true };
      expect(await stores.store.switchLink({ ...change, initiator: anInitiator() })).toEqual(
        expected,
      );
      expect(await stores.other.findLink(link.id)).toEqual(expected);

      const next = aConsentPage(link, { account_id: account.id });
      expect(await stores.store.identifyLink(identificationOf(link, next))).toBeNull();
      expect(await stores.store.decideLink(denialOf(link))).toBeNull();
      const again = switchOf(link, page.id);
      const latest = { ...expected, link_hash: again.link_hash };
      expect(await stores.other.switchLink({ ...again, initiator: anInitiator() })).toEqual(latest);
      expect(await stores.store.identifyLink(identificationOf(expected, next))).toBeNull();
      const identification = identificationOf(latest, next);
      expect(await stores.other.identifyLink(identification)).toMatchObject({
        page_id: next.id,
        switched: false,
      });
      expect(await stores.store.decideLink(approvalOf(link, account.id, page))).toBeNull();
      expect(
        await stores.store.switchLink({ ...switchOf(link, page.id), initiator: anInitiator() }),
      ).toBeNull();
    });

    test('changes nothing unless every condition holds', async () => {
      const { link, page, account } = await identified(stores.store);
      const superseded = page.id;
      const latest = aConsentPage(link, { account_id: account.id });
      await stores.store.identifyLink(identificationOf(link, latest));
      const before = await stores.store.findLink(link.id);
      for (const change of [
        switchOf(link, superseded),
        switchOf(link, latest.id, { now: link.expires_at }),
        switchOf(aLink(), latest.id),
      ]) {
        expect(await stores.store.switchLink({ ...change, initiator: anInitiator() })).toBeNull();
      }
      expect(await stores.other.findLink(link.id)).toEqual(before);
      const last = switchOf(link, latest.id, { now: link.expires_at - 1 });
      expect(await stores.store.switchLink({ ...last, initiator: anInitiator() })).not.toBeNull();
      const { link: decided, page: its } = await identified(stores.store);
      await stores.store.decideLink(denialOf(decided, its));
      expect(
        await stores.store.switchLink({ ...switchOf(decided, its.id), initiator: anInitiator() }),
      ).toBeNull();
    });

    test('while it is decided: the decision is made, and nothing after it', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { link, page, account } = await identified(stores.store);
        const change = switchOf(link, page.id);
        const [one, two] = [stores.handle(round), stores.handle(round + 1)];
        const [switched, decided] = await Promise.all([
          one.switchLink({ ...change, initiator: anInitiator() }),
          two.decideLink(approvalOf(link, account.id, page)),
        ]);
        const { link_hash } = switched ? change : link;
        expect(decided).toMatchObject({ link_hash, decision: { status: 'approved' } });
        expect(await stores.store.findLink(link.id)).toEqual(decided);
      }
    });
  });

  describe('deciding', () => {
    test('by the link: sets the account that is approved, and everything of the decision', async () => {
      const link = await opened();
      const { id } = await known();
      const approval = approvalOf(link, id, undefined, { initiator: anInitiator() });
      const expected = {
        ...link,
        account_id: id,
        decision: { ...approval.decision, at: approval.now },
      };
      expect(await stores.store.decideLink(approval)).toEqual(expected);
      expect(await stores.other.findLink(link.id)).toEqual(expected);
    });

    test('by the latest page', async () => {
      const { link, page, account } = await identified(stores.store);
      const approval = approvalOf(link, account.id, page);
      const expected = { ...link, decision: { ...approval.decision, at: approval.now } };
      expect(await stores.store.decideLink(approval)).toEqual(expected);
      expect(await stores.other.findLink(link.id)).toEqual(expected);
    });

    test('against it leaves the account as it was', async () => {
      const { link, page } = await identified(stores.store);
      const denial = denialOf(link, page);
      const expected = { ...link, decision: { ...denial.decision, at: denial.now } };
      expect(await stores.store.decideLink(denial)).toEqual(expected);
      const open = await opened();
      expect(await stores.store.decideLink(denialOf(open))).toMatchObject({ account_id: null });
    });

    test('changes nothing unless every condition holds', async () => {
      const { link, page, account } = await identified(stores.store);
      const latest = aConsentPage(link, { account_id: account.id });
      await stores.store.identifyLink(identificationOf(link, latest));
      const before = await stores.store.findLink(link.id);
      const { expires_at } = link;
      for (const decision of [
        approvalOf({ ...link, link_hash: aHash() }, account.id),
        approvalOf(link, account.id, page),
        approvalOf(link, account.id, undefined, { now: expires_at }),
        approvalOf(link, account.id, latest, { now: expires_at }),
        approvalOf({ ...link, id: anId() }, account.id),
        approvalOf(link, (await known()).id),
      ]) {
        expect(await stores.store.decideLink(decision)).toBeNull();
        expect(await stores.other.findLink(link.id)).toEqual(before);
      }
      const last = approvalOf(link, account.id, latest, { now: expires_at - 1 });
      const decided = await stores.store.decideLink(last);
      expect(decided).not.toBeNull();
      expect(await stores.store.decideLink(last)).toBeNull();
      expect(await stores.store.decideLink(denialOf(link))).toBeNull();
      expect(await stores.other.findLink(link.id)).toEqual(decided);
    });

    test('at once, by the host and on the page: exactly one decision is made', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { link, page, account } = await identified(stores.store);
        const decisions = [
          ...Array.from({ length: 3 }, () => approvalOf(link, account.id)),
          ...Array.from({ length: 3 }, () => approvalOf(link, account.id, page)),
          ...[denialOf(link), denialOf(link), denialOf(link, page), denialOf(link, page)],
        ];
        const results = await atOnce(decisions.length, (index) =>
          stores
            .handle(round + index)
            .decideLink(decisions[(round + 3 * index) % decisions.length] ?? denialOf(link)),
        );
        const [made] = present(results);
        expect(present(results)).toHaveLength(1);
        expect(await stores.store.findLink(link.id)).toEqual(made);
      }
    });

    test('on a page while another account is identified: only for the account of the page', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { link, page, account } = await identified(stores.store);
        const other = await known();
        const latest = aConsentPage(link, { account_id: other.id });
        const [one, two] = [stores.handle(round), stores.handle(round + 1)];
        const [again, allowed] = await Promise.all([
          one.identifyLink(identificationOf(link, latest)),
          two.decideLink(approvalOf(link, account.id, page)),
        ]);
        // If it was identified first, the page that was allowed is no longer the latest.
        expect(present([again, allowed])).toHaveLength(1);
        expect(await stores.store.findLink(link.id)).toEqual(again ?? allowed);
        expect(await stores.other.findPage(latest.id)).toEqual(again && latest);
      }
    });
  });

  test('what is done to a link request and its page is stored with its initiator', async () => {
    const initiator = anInitiator({ by: 'user', secret_id: null });
    const link = aLink();
    await stores.store.createLink({ ...link, initiator });
    const account = await known();
    const page = aConsentPage(link, { account_id: account.id });
    await stores.store.identifyLink(identificationOf(link, page, { initiator }));
    await stores.store.openPage(openingOf(page, { initiator }));
    const change = switchOf(link, page.id, { initiator });
    await stores.store.switchLink({ ...change, initiator: anInitiator() });
    await stores.store.decideLink({
      ...denialOf({ ...link, link_hash: change.link_hash }),
      initiator,
    });
    const initiatorsOf = async (kind: 'links' | 'pages', id: string) =>
      (await stores.database.membersOf(kind, id))
        .filter((name) => name.endsWith('_initiator'))
        .sort();
    expect(await initiatorsOf('links', link.id)).toEqual([
      ...['begin_initiator', 'decide_initiator', 'identify_initiator', 'switch_initiator'],
    ]);
    expect(await initiatorsOf('pages', page.id)).toEqual(['create_initiator', 'open_initiator']);
  });

  test('identifications at once: the link request has the page of one, and others are dead', async () => {
    const link = await opened();
    const account = await known();
    const pages = Array.from({ length: 8 }, () => aConsentPage(link, { account_id: account.id }));
    const results = await Promise.all(
      pages.map((page, index) => stores.handle(index).identifyLink(identificationOf(link, page))),
    );
    expect(present(results)).toHaveLength(pages.length);
    const found = await stores.store.findLink(link.id);
    const openings = await Promise.all(pages.map((page) => stores.store.openPage(openingOf(page))));
    // Any page opens: whether it is the latest is for the rules and for the decision.
    expect(present(openings)).toHaveLength(pages.length);
    const decisions = await Promise.all(
      pages.map((page) => stores.other.decideLink(approvalOf(link, account.id, page))),
    );
    expect(present(decisions).map(({ page_id }) => page_id)).toEqual([found?.page_id]);
  });
}
