import { DomainError } from '@latchkey/domain/domain-error';
import { beforeDeadline } from '@latchkey/domain/request-scope';

/** Of one account, one at a time. */
export interface Turns {
  /**
   * Waits until the turns of the account that were asked for before have ended, at most until the deadline of the
   * request.
   *
   * @returns what ends the turn
   * @throws `rate_limited` if too many wait
   */
  begin(account_id: string): Promise<() => void>;
}

/**
 * @param mostWaiting - of one account. Each holds its connection, and no limit counts a consent page. Default: any
 *   number
 */
export function createTurns(mostWaiting = Number.POSITIVE_INFINITY): Turns {
  /** Of each account that somebody has the turn of. */
  const waiting = new Map<string, Set<() => void>>();

  function end(account_id: string): void {
    const others = waiting.get(account_id);
    const [next] = others ?? [];
    if (next === undefined) waiting.delete(account_id);
    else {
      others?.delete(next);
      // Other requests are handled in between.
      setImmediate(next);
    }
  }

  return {
    async begin(account_id) {
      const others = waiting.get(account_id);
      if (others === undefined) waiting.set(account_id, new Set());
      else {
        if (others.size >= mostWaiting) throw new DomainError('rate_limited');
        const { promise, resolve } = Promise.withResolvers<void>();
        others.add(resolve);
        try {
          await beforeDeadline(promise);
        } catch (error) {
          // It may have got its turn too late.
          if (!others.delete(resolve)) end(account_id);
          throw error;
        }
      }
      return () => end(account_id);
    },
  };
}
