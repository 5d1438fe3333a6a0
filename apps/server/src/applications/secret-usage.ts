import type { Milliseconds } from '../clock.ts';
import type { SecretRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

// Rounding to the minute costs a secret one write a minute instead of one per request.
const MINUTE: Milliseconds = 60_000;

export interface SecretUsage {
  note(application_id: string, secret: SecretRecord, now: Milliseconds): void;
  flush(): Promise<void>;
}

export function createSecretUsage(
  store: Pick<Store, 'noteSecretUse'>,
  onFailure: (error: unknown) => void,
): SecretUsage {
  const writing = new Map<string, Promise<void>>();
  return {
    note(application_id, secret, now) {
      const minute = now - (now % MINUTE);
      if (secret.last_used_at !== null && secret.last_used_at >= minute) return;
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
