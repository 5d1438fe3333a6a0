import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { newId } from '@latchkey/domain/credentials/credentials';
import { DomainError } from '@latchkey/domain/domain-error';
import type { RefusalRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import type { Logger } from 'pino';
import { addressKey } from '../limits/limit.ts';
import { SharedTokenBucket } from './token-bucket.ts';

export type NewRefusal = Omit<RefusalRecord, 'id' | 'at' | 'expires_at'>;

export interface RefusalKeeper {
  /**
   * @param isProven - whether a credential says who calls: the id of a public application says nothing
   * @returns whether it is within the limits, also if nothing is kept because `days` is 0
   */
  keep(refusal: NewRefusal, isProven: boolean): boolean;
  flush(): Promise<void>;
}

const DAY: Milliseconds = 86_400_000;

/** What all of them may at once: a refusal takes about 500 bytes. */
export const MAX_QUEUED = 1_500;

// Limits the disk that a flood can fill; the log has every refusal. Anonymous callers and users cannot
// displace refusals of applications: whoever may sign up at the host can be several users. At 460 bytes a record in
// SQLite, a day takes at most 80 MB each for anonymous callers and users, and 800 MB for applications.
const ANONYMOUS = { capacity: 500, perSecond: 2 };
const USERS = ANONYMOUS;
const AUTHENTICATED = { capacity: 500, perSecond: 20 };
// A single address, application, user or key of an operator gets at most a fifth of the burst (six full
// tRPC batches) and a quarter of the refill, so that the others keep theirs.
const ONE_ADDRESS = { capacity: 100, perSecond: 0.5 };
const ONE_USER = ONE_ADDRESS;
const ONE_CALLER = { capacity: 100, perSecond: 5 };

// SQLite writes on the main thread, about 5 ms for this many.
const BATCH_SIZE = 250;
const WRITE_EVERY: Milliseconds = 1_000;
const REPORT_DROPPED_EVERY: Milliseconds = 60_000;

export function createRefusalKeeper(
  store: Pick<Store, 'keepRefusals'>,
  { clock, days, log }: { clock: Clock; days: number; log: Logger },
): RefusalKeeper {
  const queue: RefusalRecord[] = [];
  const anonymous = new SharedTokenBucket({ each: ONE_ADDRESS, all: ANONYMOUS });
  const users = new SharedTokenBucket({ each: ONE_USER, all: USERS });
  const authenticated = new SharedTokenBucket({ each: ONE_CALLER, all: AUTHENTICATED });
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;
  let failing = false;
  let dropped = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;

  function schedule(): void {
    if (queue.length === 0 && dropped === 0) return;
    timer ??= setTimeout(() => {
      timer = null;
      void write().then(() => reportDropped(REPORT_DROPPED_EVERY));
    }, WRITE_EVERY).unref();
  }

  function write(): Promise<void> {
    writing ??= writeBatches().finally(() => {
      writing = null;
      schedule();
    });
    return writing;
  }

  async function writeBatches(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, BATCH_SIZE);
      try {
        await store.keepRefusals(batch);
        failing = false;
      } catch (err) {
        if (!failing) log.warn({ err }, 'could not write refusals; retrying');
        failing = true;
        // After a DomainError the database may come back. Any other error would repeat for ever.
        if (err instanceof DomainError) return;
        dropped += batch.length;
      }
      queue.splice(0, batch.length);
    }
  }

  function reportDropped(every: Milliseconds): void {
    if (dropped === 0 || performance.now() - reportedAt < every) return;
    log.warn({ dropped }, 'too many refusals; the dropped ones are only in the log');
    reportedAt = performance.now();
    dropped = 0;
  }

  function isWithinLimits(
    { by, address, application_id, account_id, key_id }: NewRefusal,
    isProven: boolean,
  ): boolean {
    if (!isProven) return anonymous.take(addressKey(address ?? undefined));
    // What a user does on a page names the application that has asked.
    if (by === 'user') return users.take(account_id ?? '');
    return authenticated.take(key_id ?? application_id ?? by ?? '');
  }

  return {
    keep(refusal, isProven) {
      const isAllowed = isWithinLimits(refusal, isProven);
      if (days === 0) return isAllowed;
      if (isAllowed && queue.length < MAX_QUEUED) {
        const at = clock();
        queue.push({ id: newId(at), at, ...refusal, expires_at: at + days * DAY });
      } else {
        dropped += 1;
      }
      schedule();
      return isAllowed;
    },

    async flush() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      // A running write may have started before the last refusal was queued.
      await writing;
      if (queue.length > 0) await write();
      reportDropped(0);
    },
  };
}
