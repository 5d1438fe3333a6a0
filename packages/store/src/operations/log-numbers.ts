import type { Adapter } from '../adapter.ts';
import { logCounter } from '../kinds.ts';
import { LOG_COUNTER } from '../records.ts';
import type { Store } from '../store.ts';

export function logNumbers(db: Adapter): Pick<Store, 'takeLogNumbers'> {
  const take = db.next(logCounter, LOG_COUNTER, 'number');
  return { takeLogNumbers: ({ count, above = 0 }) => take({ above, by: count }) };
}
