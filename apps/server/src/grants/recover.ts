import type { Milliseconds } from '../clock.ts';
import { mintCredential } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import type { Service } from '../service.ts';
import type { GrantWithSecret } from './convert.ts';

/** How long after the exchange a grant can be recovered: two lives of a code. */
export const RECOVERY_WINDOW: Milliseconds = 600_000;

/**
 * Gives a grant a new secret and kills the old one, for the application whose answer to the
 * exchange got lost. It creates and restores no grant.
 *
 * @throws DomainError `grant_not_found`: unknown, another application's, not exchanged, or revoked;
 *   `grant_not_recoverable`: used before, or exchanged too long ago
 */
export async function recover(
  { store, clock }: Service,
  application_id: string,
  grant_id: string,
): Promise<GrantWithSecret> {
  const secret = mintCredential('grantSecret', grant_id);
  const exchanged_after = clock() - RECOVERY_WINDOW;
  const recovery = { grant_id, application_id, secret_hash: secret.hash, exchanged_after };
  // A second time, since the code may be exchanged between the write and the look, by the very call
  // whose answer was given up on. A grant that was there before a write which then matched nothing
  // was used, or is too old.
  for (let attempt = 1; attempt <= 2; attempt++) {
    const grant = await store.recoverGrant(recovery);
    if (grant !== null) return { grant, grant_secret: secret.credential };

    const present = await store.findGrant(grant_id);
    if (present?.application_id !== application_id || present.revoked_at !== null) {
      throw new DomainError('grant_not_found');
    }
  }
  throw new DomainError('grant_not_recoverable');
}
