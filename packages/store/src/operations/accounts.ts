import { isDeepStrictEqual } from 'node:util';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { newId } from '@latchkey/domain/credentials/credentials';
import { afterChange } from '@latchkey/domain/domain-error';
import type { Adapter } from '../adapter.ts';
import {
  type Givens,
  greatest,
  isSet,
  lessThan,
  merged,
  moreThan,
  oneOf,
  unless,
  type Where,
  when,
} from '../condition.ts';
import type { RecordOf } from '../kind.ts';
import { grants, accounts as kind, links, pages } from '../kinds.ts';
import { type AccountRecord, type CurrentAccount, ERASED, type ListedAccount } from '../records.ts';
import type { AccountFilter, Erasure, Store } from '../store.ts';
import { changeAll } from './change-all.ts';
import { forgetting } from './names.ts';
import { revoked } from './revoked.ts';

type Accounts = Pick<
  Store,
  'putAccount' | 'findAccount' | 'listAccounts' | 'endPages' | 'eraseAccount'
>;

type Stored = RecordOf<typeof kind>;

const CURRENT = ['account', 'external_id'] as const;

// As many as SQLite ends at once.
const PART = 256;

/** What is left of an erased account. */
export interface Tombstone extends Pick<Stored, 'erased_by' | 'erased_until'> {
  account_id: string;
  erased_at: Milliseconds;
  /** What was made of the account before has a lesser one, and what is made once it is put again a greater one. */
  revision: number;
}

export function accounts(db: Adapter, clock: Clock): Accounts {
  const find = db.joined(
    kind,
    ({ id }: Givens<{ id: string }>) => ({ id }),
    CURRENT,
    {},
    currentAccount,
  );

  const listBy = (index: string, which: (filter: Givens<AccountFilter>) => Where<typeof kind>) =>
    db.list(
      kind,
      (of: Givens<AccountFilter & { before: string | null }>) => [
        which(of),
        when(of.before, { place: lessThan(of.before) }),
        unless(of.before, { place: isSet }),
      ],
      [...CURRENT, 'place'],
      listedAccount,
      { index, order: { by: ['place'], descending: true } },
    );
  const list = listBy('accounts_by_place', () => ({}));
  const listByUsername = listBy('accounts_by_username', ({ username }) => ({ username }));
  const listByExternalId = listBy('accounts_by_external_id', ({ external_id }) => ({
    external_id,
  }));

  /** The tombstone of an erasure that has to be completed first; otherwise null, and it is put. */
  const put = db.modify(
    kind,
    ({ account }: Put) => account.id,
    (found, { account, place, now, completed }) => {
      const tombstone = found && tombstoneOf(found);
      if (tombstone && tombstone.revision !== completed) return { result: tombstone };
      const stored = storedAccount({ account, place: found?.place ?? place });
      const isAsPut = (one: Stored) =>
        isDeepStrictEqual(one.account, stored.account) && one.external_id === stored.external_id;
      const isUpdate = found?.account && !isDeepStrictEqual(found.account, stored.account);
      return {
        result: null,
        put: { ...stored, sign_outs: found?.sign_outs ?? 0, revision: revisionAfter(found) },
        isMade: isAsPut,
        // The message has the account as it is when it is told, so one is enough.
        ...(isUpdate && { event: { type: 'account.updated', at: now, replaces: true } }),
      };
    },
  );

  const endPages = db.modify(
    kind,
    ({ account_id }: OfAccount) => account_id,
    (found) => {
      if (!found?.account) return { result: undefined };
      const { sign_outs } = found;
      return {
        result: undefined,
        put: { ...found, sign_outs: sign_outs + 1, revision: revisionAfter(found) },
        // Whoever has raised it has ended the same pages.
        isMade: (later) => later.sign_outs > sign_outs,
      };
    },
    { ends: true },
  );

  /**
   * From now on nothing is created for the account, and its grants are refused. The record stays, also that of an
   * unknown id: a put that arrives late finds its revision raised.
   */
  const begin = db.modify(
    kind,
    ({ account_id }: Erasure) => account_id,
    (found, { account_id, now, initiator }) => {
      const erased: Stored = {
        ...{ id: account_id, place: null, account: null, username: null, external_id: null },
        sign_outs: found?.sign_outs ?? 0,
        ...{ erased_at: now, erased_by: initiator, erased_until: found?.erased_until ?? null },
        revision: revisionAfter(found),
      };
      return {
        result: tombstoneOf(erased) as Tombstone,
        put: erased,
        event: null,
        isMade: ({ erased_at, erased_by }) =>
          erased_at === now && isDeepStrictEqual(erased_by, initiator),
      };
    },
    { ends: true },
  );

  // A step that goes on, or arrives, after the account was put again spares what is of the new one.
  const ofErased = ({ account_id, revision }: Givens<Tombstone>) => ({
    account_id,
    account_revision: lessThan(revision),
  });
  const byId = ({ ids }: Givens<{ ids: readonly string[] }>) => ({ id: oneOf(ids) });

  // What is stored later gets no body.
  const withNames = ({ account_id, revision }: Givens<Tombstone & { now: Milliseconds }>) => ({
    ...{ names_of: account_id, account_revision: lessThan(revision) },
  });
  const forgetMessages = forgetting(db, withNames);
  const listPages = db.list(pages, ofErased, ['id', 'link_id'], asIs, {
    index: 'pages_by_account',
    isDecisive: true,
  });
  const removePages = db.removeSome(pages, byId);
  const listCodes = db.list(
    grants,
    (of: Givens<Tombstone>) => ({ ...ofErased(of), revoked_at: null, created_at: null }),
    ['id', 'link_id'],
    asIs,
    { index: 'unrevoked_by_account', isDecisive: true },
  );
  const removeCodes = db.removeSome(grants, (of: Givens<{ ids: readonly string[] }>) => ({
    ...byId(of),
    created_at: null,
  }));
  const listLinks = db.list(links, ofErased, ['id'], asIs, {
    index: 'links_by_account',
    isDecisive: true,
  });
  const removeLinks = db.removeSome(links, byId);
  const revoke = db.changeSome(
    grants,
    (of: Givens<Tombstone>) => ({
      where: { ...ofErased(of), revoked_at: null, created_at: isSet },
      set: revoked({
        revoked_at: of.erased_at,
        revoked_by: of.erased_by,
        revoked_reason: 'account_erased',
      }),
    }),
    ['id'],
    ({ id }) => id,
    { index: 'unrevoked_by_account', ends: true },
  );
  const eraseNames = db.changeSome(
    grants,
    (of: Givens<Tombstone>) => ({
      where: [
        { ...ofErased(of), created_at: isSet, account: isSet },
        when(of.erased_until, { id: moreThan(of.erased_until) }),
      ],
      set: { account: merged<AccountRecord>(ERASED), choice: null },
    }),
    ['id'],
    ({ id }) => id,
    { index: 'grants_by_account', order: { by: ['id'] }, ends: true },
  );
  const noteProgress = db.change(
    kind,
    ({ account_id, revision, erased_until }: Givens<Tombstone>) => ({
      where: { id: account_id, revision },
      set: { erased_until: greatest<string>(erased_until) },
    }),
    [],
    () => true,
    { ends: true },
  );

  /** After the link requests that they are about: a repetition finds those by them. */
  async function removeWithLinks(
    listSome: typeof listPages,
    removeSome: typeof removePages,
    tombstone: Tombstone,
  ): Promise<void> {
    await inParts(
      () => listSome({ ...tombstone, limit: PART }),
      async (found) => {
        const ids = found.flatMap(({ link_id }) => link_id ?? []);
        if (ids.length > 0) await removeLinks({ ids });
        await removeSome({ ids: found.map(({ id }) => id) });
      },
    );
  }

  /**
   * What follows the tombstone, in steps that any process can repeat, and go on with.
   *
   * @returns how many grants this has revoked
   */
  async function endAll(tombstone: Tombstone): Promise<number> {
    await removeWithLinks(listPages, removePages, tombstone);
    await forgetMessages({ ...tombstone, now: tombstone.erased_at });
    // First what is active, so that the look for codes passes over little.
    let ended = await changeAll(revoke, tombstone);
    await removeWithLinks(listCodes, removeCodes, tombstone);
    // What was redeemed meanwhile. No code is left, so no grant can follow.
    ended += await changeAll(revoke, tombstone);
    // After the codes: one that is no longer pending was redeemed, so its link request names the account by now.
    await inParts(
      () => listLinks({ ...tombstone, limit: PART }),
      (found) => removeLinks({ ids: found.map(({ id }) => id) }),
    );
    let { erased_until } = tombstone;
    for (;;) {
      const some = await eraseNames({ ...tombstone, erased_until });
      if (some === null) return ended;
      erased_until = some.sort().at(-1) ?? erased_until;
      await noteProgress({ ...tombstone, erased_until });
    }
  }

  /** The account is gone, whatever fails now. */
  const complete = (tombstone: Tombstone) => afterChange(() => endAll(tombstone));

  return {
    async putAccount(account) {
      const given = { account, place: newId(clock()), now: clock() };
      let tombstone = await put(given);
      // Otherwise, earlier grants would be active again.
      while (tombstone !== null) {
        await complete(tombstone);
        tombstone = await put({ ...given, completed: tombstone.revision });
      }
    },

    findAccount: (id) => find({ id }),

    listAccounts({ username, external_id }, range) {
      if (username !== undefined) return listByUsername({ username, ...range });
      return external_id !== undefined ? listByExternalId({ external_id, ...range }) : list(range);
    },

    endPages: (account_id) => endPages({ account_id }),

    eraseAccount: async (erasure) => complete(await begin(erasure)),
  };
}

interface OfAccount {
  account_id: string;
}

interface Put {
  account: CurrentAccount;
  place: string;
  now: Milliseconds;
  /** The revision of the tombstone that may be replaced. */
  completed?: number;
}

const asIs = <T>(record: T): T => record;

async function inParts<T>(
  list: () => Promise<readonly T[]>,
  end: (found: readonly T[]) => Promise<void>,
): Promise<void> {
  for (;;) {
    const found = await list();
    if (found.length > 0) await end(found);
    if (found.length < PART) return;
  }
}

const revisionAfter = (found: Pick<Stored, 'revision'> | null) => (found?.revision ?? 0) + 1;

/** Null for an account that is there. */
function tombstoneOf({ id, erased_at, ...erased }: Stored): Tombstone | null {
  if (erased_at === null) return null;
  const { revision, erased_by, erased_until } = erased;
  return { account_id: id, revision, erased_at, erased_by, erased_until };
}

type Current = Pick<Stored, (typeof CURRENT)[number]>;

const currentAccount = ({ account, external_id }: Current): CurrentAccount | null =>
  account && { ...account, ...(external_id !== null && { external_id }) };

export const listedAccount = ({ place, ...current }: Current & Pick<Stored, 'place'>) =>
  ({ place, account: currentAccount(current) }) as ListedAccount;

/** Names each member: what a host puts has no others, and an erasure knows these. */
function snapshotOf(account: CurrentAccount): AccountRecord {
  const { id, username, display_name, twitter, verified, supporter } = account;
  return { id, username, display_name, twitter, verified, supporter };
}

export function storedAccount({ place, account }: ListedAccount): Stored {
  const { id, username, external_id = null } = account;
  return {
    ...{ id, place, account: snapshotOf(account), username, external_id },
    ...{ sign_outs: 0, revision: 0, erased_at: null, erased_by: null, erased_until: null },
  };
}
