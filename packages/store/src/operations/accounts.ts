import { isDeepStrictEqual } from 'node:util';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { newId } from '@latchkey/domain/credentials/credentials';
import type { Adapter, Decision } from '../adapter.ts';
import { type Givens, isSet, lessThan, unless, type Where, when } from '../condition.ts';
import { unfinishedOf, type Work, withEnding, workOf } from '../endings.ts';
import type { RecordOf } from '../kind.ts';
import { accounts as kind } from '../kinds.ts';
import type { AccountRecord, CurrentAccount, ListedAccount } from '../records.ts';
import type { AccountFilter, Erasure, Store } from '../store.ts';
import { hasEnding, type Marking, marking, oldestOf } from './marking.ts';

type Accounts = Pick<
  Store,
  'putAccount' | 'findAccount' | 'listAccounts' | 'endPages' | 'markErasure'
>;

type Stored = RecordOf<typeof kind>;

const CURRENT = ['account', 'external_id'] as const;

/** @param finish - does all the work of a mark that is left, before a put or another mark takes its place */
export function accounts(
  db: Adapter,
  clock: Clock,
  finish: (work: Work) => Promise<void>,
): Accounts {
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

  /** The erasure that has to be completed first; otherwise null, and it is put. */
  const put = db.modify(
    kind,
    ({ account }: Put) => account.id,
    (found, { account, place, now }) => {
      const erasure = found && erasureOf(found);
      if (erasure) return { result: erasure };
      const stored = storedAccount({ account, place: found?.place ?? place });
      const isAsPut = (one: Stored) =>
        isDeepStrictEqual(one.account, stored.account) && one.external_id === stored.external_id;
      const isUpdate = found?.account && !isDeepStrictEqual(found.account, stored.account);
      return {
        result: null,
        put: {
          ...stored,
          ...{ sign_outs: found?.sign_outs ?? 0, revision: revisionAfter(found) },
          ...{ endings: found?.endings ?? null, unfinished_since: found?.unfinished_since ?? null },
        },
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
   * From now on nothing is created for the account, and all that it had is ended. The record stays, also that of an
   * unknown id: a put that arrives late finds its revision raised.
   */
  const mark = db.modify(
    kind,
    ({ account_id }: Erasure) => account_id,
    (found, { account_id, now, initiator }): Decision<Stored, Marking> => {
      const begun = found && erasureOf(found);
      // Nothing was made for the account since.
      if (begun) return { result: { work: begun } };
      const revision = revisionAfter(found);
      const ending = { kind: 'erasure', before: revision, at: now, by: initiator } as const;
      const marks = withEnding(found, ending);
      if (marks === null) return { result: { first: oldestOf(found, { account_id }) } };
      const erased: Stored = {
        ...{ id: account_id, place: null, account: null, username: null, external_id: null },
        ...{ sign_outs: found?.sign_outs ?? 0, revision },
        // Of several, the first one has ended its grants.
        ...{ erased_at: found?.erased_at ?? now, erased_by: found?.erased_by ?? initiator },
        ...{ erased_until: found?.erased_until ?? null, ...marks },
      };
      const isMade = (later: Stored) => later.erased_at !== null && hasEnding(later, ending);
      return {
        result: { work: workOf(ending, { account_id }) },
        put: erased,
        event: null,
        isMade,
      };
    },
    { ends: true },
  );

  return {
    async putAccount(account) {
      const given = { account, place: newId(clock()), now: clock() };
      for (let erasure = await put(given); erasure !== null; erasure = await put(given)) {
        await finish(erasure);
      }
    },

    findAccount: (id) => find({ id }),

    listAccounts({ username, external_id }, range) {
      if (username !== undefined) return listByUsername({ username, ...range });
      return external_id !== undefined ? listByExternalId({ external_id, ...range }) : list(range);
    },

    endPages: (account_id) => endPages({ account_id }),

    markErasure: (erasure) => marking(() => mark(erasure), finish),
  };
}

interface OfAccount {
  account_id: string;
}

interface Put {
  account: CurrentAccount;
  place: string;
  now: Milliseconds;
}

export const revisionAfter = (found: Pick<Stored, 'revision'> | null) => (found?.revision ?? 0) + 1;

/** The unfinished erasure of a tombstone; null if there is none. */
const erasureOf = (found: Stored): Work | null =>
  (found.erased_at !== null &&
    unfinishedOf(found, { account_id: found.id }).findLast(({ kind }) => kind === 'erasure')) ||
  null;

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
    ...{ endings: null, unfinished_since: null },
  };
}
