import { hashCredential, readCredential, sameHash } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import type { Reason } from '../reasons.ts';
import type { Service } from '../service.ts';
import type { ApplicationRecord } from '../store/records.ts';

/** An application, and which of its secrets it came with. */
export interface AuthenticatedApplication {
  application: ApplicationRecord;
  secret_id: string;
}

/**
 * Finds the application that a secret belongs to.
 *
 * @throws DomainError `credentials_invalid`: the secret is ill-formed, unknown, removed or expired,
 *   or its application is disabled
 */
export async function authenticateApplication(
  { store, clock, secretUsage }: Service,
  credential: string,
): Promise<AuthenticatedApplication> {
  const application_id = readCredential('applicationSecret', credential);
  const refuse = (reason: Reason) => DomainError.because(reason, { application_id });
  const application = await store.findApplication(application_id);
  if (application === null) throw refuse('application_unknown');

  const hash = hashCredential(credential);
  const secret = application.secrets.find((candidate) => sameHash(candidate.hash, hash));
  const now = clock();
  if (secret === undefined) throw refuse('secret_unknown');
  if (application.disabled) throw refuse('application_disabled');
  if (secret.expires_at !== null && secret.expires_at <= now) throw refuse('secret_expired');
  secretUsage.note(application.id, secret, now);
  return { application, secret_id: secret.id };
}
