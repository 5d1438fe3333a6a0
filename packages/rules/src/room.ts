import { DomainError } from '@latchkey/domain/domain-error';
import type { Store } from '@latchkey/store/store';
import type { Logger } from 'pino';

/** Whether the database has room for more records. */
export interface Room {
  /** As it was within the last {@link LOOK_EVERY_MS}. */
  isFull(): Promise<boolean>;
  watch(): void;
  close(): Promise<void>;
}

// Long before the disk is full, however fast it fills up.
const LOOK_EVERY_MS = 5_000;
const MIB = 1024 * 1024;

/** @param leastFree - in MiB; 0 for no bound */
export function createRoom(store: Pick<Store, 'measure'>, leastFree: number, log: Logger): Room {
  let isFull = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    // While the database does not respond, it is as it was.
    const measures = await store.measure().catch(() => null);
    looking = null;
    lookedAt = performance.now();
    // A database that does not say how much is free is never full.
    if (measures === null || measures.free_bytes === null) return;
    const { free_bytes } = measures;
    const was = isFull;
    isFull = free_bytes < leastFree * MIB;
    if (isFull && !was) {
      log.error(
        { free_bytes, min_free_mb: leastFree },
        'the database is running out of room: nothing new is linked',
      );
    } else if (was && !isFull) {
      log.info({ free_bytes, min_free_mb: leastFree }, 'the database has room again');
    }
  }

  function lookOnce(): Promise<void> {
    looking ??= look();
    return looking;
  }

  return {
    async isFull() {
      if (leastFree === 0) return false;
      if (performance.now() - lookedAt >= LOOK_EVERY_MS) await lookOnce();
      return isFull;
    },
    watch() {
      if (leastFree === 0) return;
      timer = setInterval(lookOnce, LOOK_EVERY_MS).unref();
      void lookOnce();
    },
    async close() {
      clearInterval(timer);
      await looking;
    },
  };
}

/**
 * Refuses what makes a new record, so that what ends one always has room. To be called after every other
 * refusal.
 *
 * @param account_id - the account that the record is of
 */
export async function refuseIfFull(
  { store, room }: { store: Pick<Store, 'findAccount'>; room: Room },
  account_id?: string,
): Promise<void> {
  if (!(await room.isFull())) return;
  if (account_id !== undefined && (await store.findAccount(account_id)) === null) {
    throw new DomainError('account_not_found');
  }
  throw new DomainError('store_full');
}
