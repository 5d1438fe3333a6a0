import type { Clock } from '@latchkey/domain/clock';
import type { Store } from '@latchkey/store/store';
import { withinASecond } from './within-a-second.ts';

// SQLite counts 100,000 in 4 ms on the main thread. That is 333 new codes a second for 300 s.
const COUNTED_AT_MOST = 100_000;

export const createPendingCodes = (
  store: Pick<Store, 'countPendingCodes'>,
  clock: Clock,
  within?: number,
) => withinASecond(() => store.countPendingCodes({ now: clock(), limit: COUNTED_AT_MOST }), within);
