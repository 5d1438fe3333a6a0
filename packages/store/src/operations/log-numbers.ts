import type { Adapter } from '../adapter.ts';
import { logCounter } from '../kinds.ts';
import { LOG_COUNTER } from '../records.ts';

export function logNumbers(db: Adapter) {
  const take = db.next(logCounter, LOG_COUNTER, 'number');
  return {
    /**
     * Takes the next `count` numbers of the one counter for all processes. No number is taken twice. One may
     * be taken by a call that throws.
     *
     * @param options.above - the counter is raised to it first. Default: not at all
     * @returns the last number that was ever taken; 0 if there is none
     */
    takeLogNumbers: ({ count, above = 0 }: { count: number; above?: number }) =>
      take({ above, by: count }),
  };
}
