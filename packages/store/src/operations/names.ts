import type { Milliseconds } from '@latchkey/domain/clock';
import type { Adapter } from '../adapter.ts';
import {
  asIs,
  atLeast,
  either,
  type Givens,
  idOf,
  isSet,
  lessThan,
  type Where,
  when,
} from '../condition.ts';
import { type ConnectionIds as Pair, unusedBefore } from '../inputs.ts';
import { deliveries, grants } from '../kinds.ts';
import type { ApplicationRecord } from '../records.ts';
import { changeAll } from './change-all.ts';
import { isActive, MARKABLE, type MarksInside } from './marks.ts';
import { type Listed, newestFirst, olderThan } from './sites.ts';

export type Idleness = Pick<ApplicationRecord, 'disabled' | 'idle_days' | 'enabled_at'>;

/** Who may still be told the names of an account. */
export type NamesInside = ReturnType<typeof namesInside>;

export function namesInside(db: Adapter, { seen }: MarksInside) {
  const listUnrevoked = db.list(
    grants,
    (of: Givens<Sought & Listed>) => [
      { account_id: of.account_id, application_id: of.application_id },
      { revoked_at: null, created_at: isSet },
      when(
        of.used_since,
        either({ created_at: atLeast(of.used_since) }, { last_used_at: atLeast(of.used_since) }),
      ),
      when(of.created_before, { created_at: lessThan(of.created_before) }),
      olderThan(of.before),
    ],
    MARKABLE,
    asIs,
    {
      ...{ index: 'unrevoked_by_account', isDecisive: true },
      order: newestFirst,
    },
  );
  async function isAny(sought: Sought, which = isActive): Promise<boolean> {
    const one = { limit: 1, before: null };
    return (await seen((part) => listUnrevoked({ ...sought, ...part }), which, one)).length > 0;
  }
  const messages = (of: Givens<Told>) => ({
    ...{ names_of: of.account_id, names_for: of.application_id },
    created_at: lessThan(of.created_before),
  });
  const takeBack = forgetting<Told & { now: Milliseconds }>(db, messages);
  async function forget(pair: Pair, until: Milliseconds, now: Milliseconds): Promise<void> {
    await changeAll(takeBack, { ...pair, created_before: until + 1, now });
  }

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
      return isAny({ ...pair, used_since, created_before });
    },

    /** Whether a mark has ended a grant of it that is not written down yet. */
    async isEnding(pair: Pair): Promise<boolean> {
      return isAny({ ...pair, used_since: null, created_before: null }, (one) => !isActive(one));
    },

    /** Takes the names back that were told, or are to be told, of what happened until then. */
    forget,

    /** After the end of a grant: a later grant brings nothing back. */
    async forgetIfLast(pair: Pair, ended_at: Milliseconds, now: Milliseconds): Promise<void> {
      const isOther = await isAny({ ...pair, used_since: null, created_before: ended_at + 1 });
      if (!isOther) await forget(pair, ended_at, now);
    },
  };
}

interface Sought extends Pair {
  used_since: Milliseconds | null;
  created_before: Milliseconds | null;
}

interface Told extends Pair {
  created_before: number;
}

/**
 * Takes the names out of some of these deliveries that have ended, or drops some pending ones. What is done leaves the
 * index: no later part, and no later call, reads it again.
 *
 * @returns which; null once there are none
 */
export function forgetting<I extends { now: Milliseconds }>(
  db: Adapter,
  messages: (of: Givens<I>) => Where<typeof deliveries>,
): (of: I & { limit?: number }) => Promise<string[] | null> {
  const options = { index: 'deliveries_with_names', ends: true };
  const drop = db.changeSome(
    deliveries,
    (of: Givens<I>) => ({
      where: [messages(of), { ended_at: null }],
      set: {
        ...{ status: 'dropped' as const, body: null, names_of: null, due_at: null, claim: null },
        ended_at: of.now,
      },
    }),
    ['id'],
    idOf,
    options,
  );
  const erase = db.changeSome(
    deliveries,
    // One that is pending has to say whose names it has: its try asks. Only those that have ended are never due; with
    // `ended_at`, PostgreSQL may go along the expiry of all that have ended.
    (of: Givens<I>) => ({
      where: [messages(of), { due_at: null }],
      set: { body: null, names_of: null },
    }),
    ['id'],
    idOf,
    options,
  );
  // Those that have ended first: to find what is pending, each part would read them all. Once more last: a try may have
  // ended in between.
  return async (of) => (await erase(of)) ?? (await drop(of)) ?? erase(of);
}
