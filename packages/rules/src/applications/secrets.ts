import type { Milliseconds } from '@latchkey/domain/clock';
import { requireFuture } from '@latchkey/domain/credentials/require-future';
import { DomainError } from '@latchkey/domain/domain-error';
import type { ApplicationRecord, SecretRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import { mintSecret } from './mint-secret.ts';

export const MAX_LIVE_SECRETS = 5;

export async function addSecret(
  { store, clock }: Pick<Dependencies, 'store' | 'clock'>,
  application_id: string,
  expires_at: Milliseconds | null,
): Promise<{ secret: SecretRecord; credential: string }> {
  const now = clock();
  requireFuture(expires_at, now);
  // An application never changes between public and confidential, so no write can interfere.
  const application = await store.findApplication(application_id);
  if (application?.document != null) throw new DomainError('application_documented');
  if (application?.public) throw new DomainError('application_public');
  const { record, credential } = mintSecret(application_id, now, expires_at);
  const outcome = await store.addSecret(application_id, record, { most: MAX_LIVE_SECRETS, now });
  if (outcome !== 'added') throw new DomainError(outcome);
  return { secret: record, credential };
}

export async function removeSecret(
  { store }: Pick<Dependencies, 'store'>,
  application_id: string,
  secret_id: string,
): Promise<ApplicationRecord> {
  const outcome = await store.removeSecret(application_id, secret_id);
  if (typeof outcome === 'string') throw new DomainError(outcome);
  return outcome;
}
