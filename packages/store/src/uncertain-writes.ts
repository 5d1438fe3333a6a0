import { DomainError } from '@latchkey/domain/domain-error';
import { growingPauses } from './pauses.ts';

/** `result`: made, or can't be made any more. `retry`: not made, and may be sent again. */
export type ReadBack<T> = { result: T } | 'retry' | 'unknown';

/**
 * What is known of a write once its command has ended: how often it was sent, and the last response.
 *
 * `isRefused`: nothing is changed by a command with this response.
 */
export type Sent<T> = { sends: number } & ({ result: T } | { error: unknown; isRefused: boolean });

export interface Write<T> {
  grant_id?: string;
  /** What was done of a longer work stays done, and a repetition of the work does the rest. */
  isPart?: boolean;
  /** Safe to repeat. Its result is null if it matched nothing, and undefined if that is not known. */
  send(): Promise<Sent<T>>;
  /** Left out if a repetition returns the same as the lost response. */
  readBack?(): Promise<ReadBack<T>>;
}

export interface Settling {
  /** How long to look for the outcome, in milliseconds. */
  timeout: number;
  closing: AbortSignal;
  isDatabaseError(error: unknown): boolean;
  unavailable(error: unknown): unknown;
}

// The longest is short compared with a failover of 10 s.
const PAUSES = { first: 100, most: 1_000 };

/** @throws DomainError `store_unavailable` if nothing was changed, otherwise `outcome_unknown` */
export async function settle<T>(
  write: Write<T>,
  { timeout, closing, isDatabaseError, unavailable }: Settling,
): Promise<T> {
  async function tryReadBack(): Promise<ReadBack<T> | 'unreadable'> {
    if (!write.readBack) return 'retry';
    try {
      return await write.readBack();
    } catch (error) {
      if (!isDatabaseError(error)) throw error;
      return 'unreadable';
    }
  }

  /** If it matched nothing, the first command was made, or will match nothing either. */
  async function afterRepetition(result: T, unknown: DomainError): Promise<T> {
    if (result !== null) return result;
    const found = await tryReadBack();
    if (typeof found === 'object') return found.result;
    if (found === 'retry') return result;
    throw unknown;
  }

  const first = await write.send();
  if ('result' in first) {
    // That a driver's repetition matched nothing says nothing about the first command.
    if (first.result !== null || first.sends <= 1) return first.result;
    return afterRepetition(first.result, outcomeUnknown(write));
  }
  if (!mayBeMade(first)) throw unavailable(first.error);

  // The command may still be on its way, so `store_unavailable` could turn out wrong.
  const unknown = outcomeUnknown(write, first.error);
  const deadline = performance.now() + timeout;
  const pause = growingPauses(PAUSES);
  for (;;) {
    const found = await tryReadBack();
    if (typeof found === 'object') return found.result;
    if (found === 'unknown') throw unknown;
    if (found === 'retry') {
      const next = await write.send();
      if ('result' in next) return afterRepetition(next.result, unknown);
      // What was never sent, as where the pool was emptied just then, changes nothing of what is known.
      if (next.sends > 0 && !mayBeMade(next)) throw unknown;
    }
    if (closing.aborted || performance.now() >= deadline) throw unknown;
    await pause(closing);
  }
}

function mayBeMade({ sends, isRefused }: { sends: number; isRefused: boolean }): boolean {
  // The response to the last of several sends says nothing about the first.
  return sends > 1 || (sends === 1 && !isRefused);
}

export function outcomeUnknown({ grant_id }: { grant_id?: string }, cause?: unknown): DomainError {
  return new DomainError('outcome_unknown', grant_id === undefined ? {} : { grant_id }, cause);
}
