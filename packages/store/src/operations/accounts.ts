import { isDeepStrictEqual } from 'node:util';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { newId } from '@latchkey/domain/credentials/credentials';
import type { Adapter, Decision } from '../adapter.ts';
import { type Givens, isSet, lessThan, unless, type Where, when } from '../condition.ts';
import { type Ending, type Work, withEnding, workOf } from '../endings.ts';
import type { AccountFilter, Erasure, ListRange } from '../inputs.ts';
import type { RecordOf } from '../kind.ts';
import { accounts as kind } from '../kinds.ts';
import type { AccountRecord, CurrentAccount, ListedAccount } from '../records.ts';
import { firstOf, hasEnding, type Marking, marking } from './marking.ts';
import { byId } from './sites.ts';

type Stored = RecordOf<typeof kind>;

const CURRENT = ['account', 'external_id'] as const;

interface Completing {
  /** Does all the work of an erasure that is left before a put takes its place, but for the log. */
  doSteps(work: Work): Promise<void>;
  finish(work: Work): Promise<void>;
}

export function accounts(db: Adapter, clock: Clock, { doSteps, finish }: Completing) {
  const find = db.find(kind, byId, CURRENT, currentAccount);

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

  /** The erasure whose steps have to be done first; otherwise null, and it is put. */
  const put = db.modify(
    kind,
    ({ account }: Put) => account.id,
    (found, { account, place, now, after }) => {
      const erasure = found && erasureOf(found);
      if (erasure && !erasure.is_done && erasure.before !== after) return { result: erasure };
      const named = namedAccount({ account, place: found?.place ?? place });
      const isAsPut = (one: Stored) =>
        isDeepStrictEqual(one.account, named.account) && one.external_id === named.external_id;
      const isUpdate = found?.account && !isDeepStrictEqual(found.account, named.account);
      return {
        result: null,
        put: { ...(found ?? NEW), ...named, revision: revisionAfter(found) },
        isMade: isAsPut,
        // The message has the account as it is when it is told, so one is enough.
        ...(isUpdate && {
          event: { type: 'account.updated', at: now, name: named.place, replaces: true },
        }),
      };
    },
  );

  const endPages = db.modify(
    kind,
    ({ account_id }: OfAccount) => account_id,
    (found): Decision<Stored, void> => {
      if (!found?.account) return { result: undefined };
      const { sign_outs } = found;
      return {
        result: undefined,
        put: { sign_outs: sign_outs + 1, revision: revisionAfter(found) },
        // Whoever has raised it has ended the same pages.
        isMade: (later) => later.sign_outs > sign_outs,
      };
    },
    { ends: true },
  );

  /**
   * From now on nothing is created for the account, and all that it had is ended. The record stays, also that of an
   * unknown id, of which nothing is left to do: a put that arrives late finds its revision raised.
   */
  const mark = db.modify(
    kind,
    ({ account_id }: Erasure) => account_id,
    (found, { account_id, now, initiator, before = 0 }): Decision<Stored, Marking> => {
      const former = found && erasureOf(found);
      // Nothing was made for the account since.
      if (former) return { result: { work: former } };
      const again = found?.endings?.find((one) => one.kind === 'erasure' && one.before >= before);
      if (before > 0 && again) return { result: { work: workOf(again, { account_id }) } };
      const revision = Math.max(revisionAfter(found), before);
      const ending: Ending = {
        ...{ kind: 'erasure', before: revision, at: now, by: initiator },
        ...(found === null && { is_done: true }),
      };
      const marks = withEnding(found, ending);
      if (marks === null) return { result: { first: firstOf(found, { account_id }) } };
      const erased: Stored = {
        ...{ ...(found ?? NEW), id: account_id, revision },
        ...{ place: null, account: null, username: null, external_id: null },
        ...{ erased_at: now, erased_by: initiator, erased_until: null, ...marks },
      };
      const isMade = (later: Stored) => later.erased_at !== null && hasEnding(later, ending);
      return {
        result: { work: workOf(ending, { account_id }) },
        put: erased,
        isMade,
      };
    },
    { ends: true },
  );

  return {
    /** Inserts the account, or replaces it as a whole. */
    async putAccount(account: CurrentAccount): Promise<void> {
      const given = { account, place: newId(clock()), now: clock() };
      let erasure: Work | null = null;
      do {
        if (erasure !== null) await doSteps(erasure);
        erasure = await put({ ...given, after: erasure?.before ?? null });
      } while (erasure !== null);
    },

    findAccount: (id: string) => find({ id }),

    /** The accounts in the order in which they were first put, or those that match. */
    listAccounts(
      { username, external_id }: AccountFilter,
      range: ListRange,
    ): Promise<ListedAccount[]> {
      if (username !== undefined) return listByUsername({ username, ...range });
      return external_id !== undefined ? listByExternalId({ external_id, ...range }) : list(range);
    },

    /**
     * Ends every page of an account that was created before. One that is created after this has
     * returned is not ended. Does nothing if there is no such account.
     */
    endPages: (account_id: string) => endPages({ account_id }),

    /**
     * Removes the account, also one that was never known, and ends its codes, grants, pages and link requests. Its
     * names are shown nowhere any more. An account that is put later is a new one: a put does the steps of the work
     * first, but for the log.
     *
     * @returns what is left to do, which is done if the account was never known, or was erased before and not put again:
     *   to delete its codes, its pages, and the link requests that name it or belong to one
     *   of these, to revoke its grants, and to replace the names in their snapshots by `ERASED`. At the end, the
     *   database has these names nowhere.
     */
    markErasure: (erasure: Erasure) => marking(() => mark(erasure), finish),
  };
}

interface OfAccount {
  account_id: string;
}

interface Put {
  account: CurrentAccount;
  place: string;
  now: Milliseconds;
  /** The number of the erasure whose steps are done. */
  after: number | null;
}

export const revisionAfter = (found: Pick<Stored, 'revision'> | null) => (found?.revision ?? 0) + 1;

/** Of a tombstone; null if there is none. */
function erasureOf({ id, erased_at, endings }: Stored): Work | null {
  const last = endings?.findLast(({ kind }) => kind === 'erasure');
  return erased_at !== null && last ? workOf(last, { account_id: id }) : null;
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

const NEW = { sign_outs: 0, revision: 0, endings: null, unfinished_since: null } as const;

/** What a put gives an account, also one that was erased. */
function namedAccount({ place, account }: ListedAccount) {
  const { id, username, external_id = null } = account;
  return {
    ...{ id, place, account: snapshotOf(account), username, external_id },
    ...{ erased_at: null, erased_by: null, erased_until: null },
  };
}

export const storedAccount = (listed: ListedAccount): Stored => ({
  ...NEW,
  ...namedAccount(listed),
});
