import { parseCredential } from '@latchkey/schema';
import { hashCredential, sameHash } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import type { Service } from '../service.ts';
import type { ApplicationRecord } from '../store/records.ts';

/**
 * Finds the application that a secret belongs to.
 *
 * @throws DomainError `credentials_invalid`: the secret is ill-formed, unknown, removed or expired,
 *   or its application is disabled
 */
export async function authenticateApplication(
  { store, clock, secretUsage }: Service,
  credential: string,
): Promise<ApplicationRecord> {
  const id = parseCredential('applicationSecret', credential);
  if (id === null) throw new DomainError('credentials_invalid');
  const application = await store.findApplication(id);
  if (application === null) throw new DomainError('credentials_invalid');

  const hash = hashCredential(credential);
  const secret = application.secrets.find((candidate) => sameHash(candidate.hash, hash));
  const now = clock();
  if (secret === undefined || application.disabled) throw new DomainError('credentials_invalid');
  if (secret.expires_at !== null && secret.expires_at <= now) {
    throw new DomainError('credentials_invalid');
  }
  secretUsage.note(application.id, secret, now);
  return application;
}
