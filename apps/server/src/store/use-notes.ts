import type { Milliseconds } from '../clock.ts';
import type { SecretRecord } from './records.ts';

// Rounding to the minute costs a secret one write a minute instead of one per request.
const MINUTE: Milliseconds = 60_000;

/** The last use to be written; null if it is written already. */
export function minuteToNote(
  { last_used_at }: Pick<SecretRecord, 'last_used_at'>,
  now: Milliseconds,
): Milliseconds | null {
  const minute = now - (now % MINUTE);
  return last_used_at !== null && last_used_at >= minute ? null : minute;
}

/** Writes that no response waits for. */
export interface UseNotes {
  /** Does nothing while a write for the same id is running. */
  write(id: string, note: () => Promise<unknown>): void;
  flush(): Promise<void>;
}

export function createUseNotes(onFailure: (error: unknown) => void): UseNotes {
  const writing = new Map<string, Promise<unknown>>();
  return {
    write(id, note) {
      if (writing.has(id)) return;
      const write = note()
        .catch(onFailure)
        .finally(() => writing.delete(id));
      writing.set(id, write);
    },
    async flush() {
      await Promise.all(writing.values());
    },
  };
}
