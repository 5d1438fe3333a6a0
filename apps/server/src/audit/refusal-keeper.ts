import type { Logger } from 'pino';
import type { Clock, Milliseconds } from '../clock.ts';
import { newId } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import type { RefusalRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { Allowance } from './allowance.ts';

export type NewRefusal = Omit<RefusalRecord, 'id' | 'at' | 'expires_at'>;

/** Brings refusals to the store, behind the requests that were refused. */
export interface RefusalKeeper {
  /** Takes a refusal, or drops it where there are too many; returns at once. */
  keep(refusal: NewRefusal): void;
  /** Writes what waits; resolves when it is written, or could not be. */
  flush(): Promise<void>;
}

/** How long refusals are kept, in days, unless it is set. */
export const DEFAULT_AUDIT_DAYS = 30;

const DAY: Milliseconds = 86_400_000;

/** How many may wait for the store: at some 500 bytes each, half a megabyte. */
export const MOST_WAITING = 1_000;

// A flood must not fill the disk, so only some are kept a second; the log has a line of each. Who is
// not authenticated has its own share, so that strangers can't crowd out what applications ask about.
// A record takes 340 bytes with its indexes (SQLite): strangers who never stop fill 60 MB a day, an
// application that never stops 600 MB, but that one can be disabled.
const STRANGERS = { most: 500, perSecond: 2 };
const KNOWN = { most: 500, perSecond: 20 };

// Few enough that SQLite, which writes on the thread, is done in some 5 ms.
const MOST_IN_A_BATCH = 250;
const WRITE_EVERY: Milliseconds = 1_000;
const SAY_DROPPED_EVERY: Milliseconds = 60_000;

/**
 * @param days - how long each is kept; 0 keeps none
 */
export function createRefusalKeeper(
  store: Pick<Store, 'keepRefusals'>,
  { clock, days, log }: { clock: Clock; days: number; log: Logger },
): RefusalKeeper {
  const waiting: RefusalRecord[] = [];
  const strangers = new Allowance(STRANGERS);
  const known = new Allowance(KNOWN);
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;
  let failing = false;
  let dropped = 0;
  let saidAt = Number.NEGATIVE_INFINITY;

  function schedule(): void {
    if (waiting.length === 0 && dropped === 0) return;
    timer ??= setTimeout(() => {
      timer = null;
      write().then(() => sayDropped(SAY_DROPPED_EVERY));
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
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MOST_IN_A_BATCH);
      try {
        await store.keepRefusals(batch);
        failing = false;
      } catch (err) {
        // Said once for as long as it lasts, and not every second.
        if (!failing) log.warn({ err }, 'could not keep refusals; it will be tried again');
        failing = true;
        // What the database does not answer to can wait. Anything else would fail for ever.
        if (err instanceof DomainError) return;
        dropped += batch.length;
      }
      waiting.splice(0, batch.length);
    }
  }

  function sayDropped(every: Milliseconds): void {
    if (dropped === 0 || performance.now() - saidAt < every) return;
    log.warn({ dropped }, 'too many refusals to keep; these are in the log alone');
    saidAt = performance.now();
    dropped = 0;
  }

  return {
    keep(refusal) {
      if (days === 0) return;
      const allowance = refusal.by === null ? strangers : known;
      if (waiting.length < MOST_WAITING && allowance.take()) {
        const at = clock();
        waiting.push({ id: newId(at), at, ...refusal, expires_at: at + days * DAY });
      } else {
        dropped += 1;
      }
      schedule();
    },

    async flush() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      // What is being written may have begun before the last of them came.
      await writing;
      await write();
      sayDropped(0);
    },
  };
}
