import type { Logger } from 'pino';
import type { Clock, Milliseconds } from '../clock.ts';
import { newId } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import { addressKey } from '../limits/address-key.ts';
import type { RefusalRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { SharedTokenBucket } from './token-bucket.ts';

export type NewRefusal = Omit<RefusalRecord, 'id' | 'at' | 'expires_at'>;

/** Writes refusals to the store in the background. */
export interface RefusalKeeper {
  /** Queues a refusal, or drops it if there are too many. Returns at once. */
  keep(refusal: NewRefusal): void;
  /** Writes the queue; resolves when it is written or has failed. */
  flush(): Promise<void>;
}

const DAY: Milliseconds = 86_400_000;

/** How many may be queued. At about 500 bytes each, half a megabyte. */
export const MAX_QUEUED = 1_000;

// A flood must not fill the disk; the log still has each refusal. Anonymous callers have a share of
// their own, so they can't displace the refusals of applications. A record takes 340 bytes with its
// indexes (SQLite): at most 60 MB a day of anonymous callers, and 600 MB of applications.
const ANONYMOUS = { capacity: 500, perSecond: 2 };
const AUTHENTICATED = { capacity: 500, perSecond: 20 };
// One address, or one application, can't displace the refusals of the others either: it gets a fifth
// of the share at once, which is six full tRPC batches, and a quarter of what is refilled.
const ONE_ADDRESS = { capacity: 100, perSecond: 0.5 };
const ONE_APPLICATION = { capacity: 100, perSecond: 5 };

// SQLite writes on the main thread; this many take it about 5 ms.
const BATCH_SIZE = 250;
const WRITE_EVERY: Milliseconds = 1_000;
const REPORT_DROPPED_EVERY: Milliseconds = 60_000;

/** @param days - how long each refusal is kept; 0 keeps none */
export function createRefusalKeeper(
  store: Pick<Store, 'keepRefusals'>,
  { clock, days, log }: { clock: Clock; days: number; log: Logger },
): RefusalKeeper {
  const queue: RefusalRecord[] = [];
  const anonymous = new SharedTokenBucket({ each: ONE_ADDRESS, all: ANONYMOUS });
  const authenticated = new SharedTokenBucket({ each: ONE_APPLICATION, all: AUTHENTICATED });
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;
  let failing = false;
  let dropped = 0;
  let reportedAt = Number.NEGATIVE_INFINITY;

  function schedule(): void {
    if (queue.length === 0 && dropped === 0) return;
    timer ??= setTimeout(() => {
      timer = null;
      write().then(() => reportDropped(REPORT_DROPPED_EVERY));
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
        // Logged once per outage, not once a second.
        if (!failing) log.warn({ err }, 'could not write refusals; retrying');
        failing = true;
        // A DomainError means that the database is away. Any other error would never go away.
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

  return {
    keep(refusal) {
      if (days === 0) return;
      const { by, address, application_id } = refusal;
      const isAllowed = () =>
        by === null
          ? anonymous.take(addressKey(address ?? undefined))
          : authenticated.take(application_id ?? by);
      if (queue.length < MAX_QUEUED && isAllowed()) {
        const at = clock();
        queue.push({ id: newId(at), at, ...refusal, expires_at: at + days * DAY });
      } else {
        dropped += 1;
      }
      schedule();
    },

    async flush() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      // A write that is under way may have started before the last refusal was queued.
      await writing;
      await write();
      reportDropped(0);
    },
  };
}
