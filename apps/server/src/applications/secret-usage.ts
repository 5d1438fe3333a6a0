import type { Milliseconds } from '../clock.ts';
import type { SecretRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

// `last_used_at` is kept to the minute, so that a secret costs one write a minute and not one a
// request.
const MINUTE: Milliseconds = 60_000;

/** Keeps the `last_used_at` of application secrets, behind the requests that use them. */
export interface SecretUsage {
  /** Notes a use; returns at once. */
  note(application_id: string, secret: SecretRecord, now: Milliseconds): void;
  /** Resolves when everything noted so far is written. */
  flush(): Promise<void>;
}

/**
 * @param store - where the uses are written
 * @param onFailure - told when a write failed: the use is then noted with the next one
 */
export function createSecretUsage(
  store: Pick<Store, 'noteSecretUse'>,
  onFailure: (error: unknown) => void,
): SecretUsage {
  const writing = new Map<string, Promise<void>>();
  return {
    note(application_id, secret, now) {
      const minute = now - (now % MINUTE);
      if (secret.last_used_at !== null && secret.last_used_at >= minute) return;
      // One write at a time for a secret: the requests that come meanwhile would write the same.
      if (writing.has(secret.id)) return;
      const write = store
        .noteSecretUse(application_id, secret.id, minute)
        .catch(onFailure)
        .finally(() => writing.delete(secret.id));
      writing.set(secret.id, write);
    },
    async flush() {
      await Promise.all(writing.values());
    },
  };
}
