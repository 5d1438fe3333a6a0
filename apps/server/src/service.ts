import type { Logger } from 'pino';
import { createSecretUsage, type SecretUsage } from './applications/secret-usage.ts';
import type { Clock } from './clock.ts';
import { openStore } from './store/open-store.ts';
import type { Store } from './store/store.ts';

/** What the rules work with. */
export interface Service {
  store: Store;
  clock: Clock;
  secretUsage: SecretUsage;
}

/** Opens the store and puts the service together over it. */
export async function openService(
  databaseUrl: string,
  log: Logger,
  clock: Clock = Date.now,
): Promise<Service> {
  const onError = (err: unknown) => {
    log.warn({ err }, 'the store failed outside of a request; it will be tried again');
  };
  const store = await openStore(databaseUrl, { clock, onError });
  const secretUsage = createSecretUsage(store, (err) => {
    log.warn({ err }, 'could not note the use of an application secret');
  });
  return { store, clock, secretUsage };
}

/** Writes what is still to be written, and lets go of the store. */
export async function closeService({ store, secretUsage }: Service): Promise<void> {
  await secretUsage.flush();
  await store.close();
}
