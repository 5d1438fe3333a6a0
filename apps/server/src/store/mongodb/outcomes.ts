import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError, type ErrorMembers } from '../../domain-error.ts';
import { attempt, type Comment } from './attempt.ts';
import type { Concerns } from './concerns.ts';
import { isDatabaseError, isRefusal, unavailable } from './errors.ts';

/** What the database says became of a write whose answer got lost. */
export type ReadBack<T> =
  /** It was made, or can't be made any more: this is the answer. */
  | { result: T }
  /** It was not made, and may be sent once more. */
  | 'again'
  /** What is there doesn't tell. */
  | 'unknown';

export interface Write<T> {
  /** Goes into `outcome_unknown`. */
  grant_id?: string;
  /**
   * Sends the one command of the write. Has to be safe to repeat, and to return null where it
   * matched nothing.
   *
   * @param durable - what the command asks for, and what makes it known that it was sent
   */
  send(durable: Durable): Promise<T>;
  /**
   * Reads what became of the write, or of the last of several that were sent. Left out where a
   * repetition gives the same answer as the lost one.
   */
  readBack?(): Promise<ReadBack<T>>;
}

/** The options of the command of a write. */
export type Durable = Concerns['durable'] & { comment: Comment };

const pauseMs = 100;

/**
 * Sends a write and finds out what became of it.
 *
 * The driver repeats a write by itself, once, where the server keeps a record of them (a replica
 * set, a sharded cluster; `retryWrites` is left on). That is safe for the redemption too: the
 * repetition carries the transaction number of the first, and a server that has made the first
 * answers what it recorded of it and does nothing. Beyond that, from here on, what the document
 * itself says decides.
 *
 * @param durable - what the command of the write asks for
 * @param patienceMs - for how long to try to find out
 * @param closing - aborted when nobody waits for the outcome any more
 * @throws DomainError `store_unavailable` where nothing was changed, `outcome_unknown` where that
 *   can't be found out
 */
export async function settle<T>(
  write: Write<T>,
  durable: Concerns['durable'],
  patienceMs: number,
  closing: AbortSignal,
): Promise<T> {
  const send = () => attempt((comment) => write.send({ ...durable, comment }));
  const first = await send();
  if ('result' in first) return first.result;
  if (!isUnknown(first)) throw unavailable(first.error);

  // From here on a command may be on its way still, so nothing but an answer of the database is a
  // proof that it was not executed, and `store_unavailable` would be a promise that can't be kept.
  const unknown = new DomainError('outcome_unknown', members(write), first.error);
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const found = await lookBack(write);
    if (typeof found === 'object') return found.result;
    if (found === 'unknown') throw unknown;
    if (found === 'again') {
      const next = await send();
      if ('result' in next) return (await afterRepetition(write, next.result, unknown)).result;
    }
    if (closing.aborted || performance.now() >= deadline) throw unknown;
    await sleep(pauseMs);
  }
}

/** Whether the write may have been made, although there is an error. */
function isUnknown({ error, sent }: { error: unknown; sent: number }): boolean {
  // Where it was sent more than once, the last answer says nothing of the first.
  return sent > 1 || (sent === 1 && !isRefusal(error));
}

function members({ grant_id }: { grant_id?: string }): ErrorMembers {
  return grant_id === undefined ? {} : { grant_id };
}

async function lookBack<T>(write: Write<T>): Promise<ReadBack<T> | 'unreadable'> {
  if (!write.readBack) return 'again';
  try {
    return await write.readBack();
  } catch (error) {
    if (!isDatabaseError(error)) throw error;
    return 'unreadable';
  }
}

/**
 * A repetition that matched nothing may have come too late after the first, which arrived between
 * the look and the repetition. It did match nothing, though, so where no command of ours was made
 * by now, none will be: what they need has gone.
 */
async function afterRepetition<T>(
  write: Write<T>,
  result: T,
  unknown: DomainError,
): Promise<{ result: T }> {
  if (result !== null) return { result };
  const found = await lookBack(write);
  if (typeof found === 'object') return found;
  if (found === 'again') return { result };
  throw unknown;
}
