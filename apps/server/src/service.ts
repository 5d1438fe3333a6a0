import type { Logger } from 'pino';
import { createSecretUsage, type SecretUsage } from './applications/secret-usage.ts';
import { type Audit, createAudit } from './audit/audit.ts';
import { createRefusalKeeper, DEFAULT_AUDIT_DAYS } from './audit/refusal-keeper.ts';
import type { Clock } from './clock.ts';
import { openStore } from './store/open-store.ts';
import type { Store } from './store/store.ts';

/** What the rules work with. */
export interface Service {
  store: Store;
  clock: Clock;
  secretUsage: SecretUsage;
  audit: Audit;
}

/**
 * Opens the store and puts the service together over it.
 *
 * @param auditDays - how long refusals are kept; 0 keeps none
 */
export async function openService(
  databaseUrl: string,
  log: Logger,
  clock: Clock = Date.now,
  auditDays = DEFAULT_AUDIT_DAYS,
): Promise<Service> {
  const onError = (err: unknown) => {
    log.warn({ err }, 'the store failed outside of a request; it will be tried again');
  };
  const store = await openStore(databaseUrl, { clock, onError });
  const secretUsage = createSecretUsage(store, (err) => {
    log.warn({ err }, 'could not note the use of an application secret');
  });
  const audit = createAudit(log, createRefusalKeeper(store, { clock, days: auditDays, log }));
  return { store, clock, secretUsage, audit };
}

/** Writes what is still to be written, and lets go of the store. */
export async function closeService({ store, secretUsage, audit }: Service): Promise<void> {
  await Promise.all([secretUsage.flush(), audit.flush()]);
  await store.close();
}
