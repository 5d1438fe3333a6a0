import type { Milliseconds } from '@latchkey/domain/clock';
import type { Adapter } from '../adapter.ts';
import { atLeast, either, type Givens, isSet, lessThan, type Where, when } from '../condition.ts';
import { deliveries, grants } from '../kinds.ts';
import type { ApplicationRecord } from '../records.ts';
import { unusedBefore } from '../store.ts';
import { changeAll } from './change-all.ts';

/** An account, and an application that is told of its names. */
export interface Pair {
  account_id: string;
  application_id: string;
}

export type Idleness = Pick<ApplicationRecord, 'disabled' | 'idle_days' | 'enabled_at'>;

/** Who may still be told the names of an account. */
export type NamesInside = ReturnType<typeof namesInside>;

export function namesInside(db: Adapter) {
  const listActive = db.list(
    grants,
    (of: Givens<Pair & { used_since: number | null; created_before: number | null }>) => [
      { account_id: of.account_id, application_id: of.application_id },
      { revoked_at: null, created_at: isSet },
      when(
        of.used_since,
        either({ created_at: atLeast(of.used_since) }, { last_used_at: atLeast(of.used_since) }),
      ),
      when(of.created_before, { created_at: lessThan(of.created_before) }),
    ],
    ['id'],
    ({ id }) => id,
    { index: 'unrevoked_by_account', isDecisive: true },
  );
  const messages = (of: Givens<Told>) => ({
    ...{ names_of: of.account_id, names_for: of.application_id },
    created_at: lessThan(of.created_before),
  });
  const find = db.list(deliveries, messages, ['id'], ({ id }) => id, {
    ...{ index: 'deliveries_with_names', isDecisive: true },
  });
  const takeBack = forgetting<Told & { now: Milliseconds }>(db, messages);
  const forget = (pair: Pair, until: Milliseconds, now: Milliseconds): Promise<void> =>
    takeBack({ ...pair, created_before: until + 1, now });

  return {
    /**
     * Whether the application has an active grant of the account that is not idle.
     *
     * @param by - if given, one that was there by then
     */
    async mayKnow(
      pair: Pair,
      application: Idleness,
      now: Milliseconds,
      by: Milliseconds | null = null,
    ): Promise<boolean> {
      const used_since = unusedBefore(application, now);
      const created_before = by === null ? null : by + 1;
      return (await listActive({ ...pair, used_since, created_before, limit: 1 })).length > 0;
    },

    /** Takes the names back that were told, or are to be told, of what happened until then. */
    forget,

    /** After the end of a grant: a later grant brings nothing back. */
    async forgetIfLast(pair: Pair, ended_at: Milliseconds, now: Milliseconds): Promise<void> {
      const created_before = ended_at + 1;
      if ((await find({ ...pair, created_before, limit: 1 })).length === 0) return;
      const others = await listActive({ ...pair, used_since: null, created_before, limit: 1 });
      if (others.length === 0) await forget(pair, ended_at, now);
    },
  };
}

interface Told extends Pair {
  created_before: number;
}

/** Drops the pending ones of these deliveries, and takes the names out of all of them. */
export function forgetting<I extends { now: Milliseconds }>(
  db: Adapter,
  messages: (of: Givens<I>) => Where<typeof deliveries>,
): (of: I) => Promise<void> {
  const options = { index: 'deliveries_with_names', ends: true };
  const drop = db.changeSome(
    deliveries,
    (of: Givens<I>) => ({
      where: [messages(of), { status: 'pending' as const, ended_at: null }],
      set: {
        ...{ status: 'dropped' as const, body: null, due_at: null, claim: null },
        ended_at: of.now,
      },
    }),
    ['id'],
    ({ id }) => id,
    options,
  );
  const erase = db.changeSome(
    deliveries,
    (of: Givens<I>) => ({ where: [messages(of), { body: isSet }], set: { body: null } }),
    ['id'],
    ({ id }) => id,
    options,
  );
  return async (of) => {
    await changeAll(drop, of);
    await changeAll(erase, of);
  };
}
