import type { Milliseconds } from '../clock.ts';
import { mintCredential } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import type { Origin } from '../origin.ts';
import type { Reason } from '../reasons.ts';
import type { Service } from '../service.ts';
import type { GrantHistory } from '../store/records.ts';
import { absence } from './absence.ts';
import type { GrantWithSecret } from './convert.ts';

/** How long after the exchange a grant can be recovered: two lives of a code. */
export const RECOVERY_WINDOW: Milliseconds = 600_000;

/**
 * Gives a grant a new secret and kills the old one, for the application whose answer to the
 * exchange got lost. It creates and restores no grant.
 *
 * @param origin - kept with the grant; that of the last recovery stays
 * @throws DomainError `grant_not_found`: unknown, another application's, not exchanged, or revoked;
 *   `grant_not_recoverable`: used before, or exchanged too long ago
 */
export async function recover(
  { store, clock }: Service,
  application_id: string,
  grant_id: string,
  origin: Origin,
): Promise<GrantWithSecret> {
  const secret = mintCredential('grantSecret', grant_id);
  const now = clock();
  const exchanged_after = now - RECOVERY_WINDOW;
  const recovery = {
    grant_id,
    application_id,
    secret_hash: secret.hash,
    exchanged_after,
    now,
    origin,
  };
  for (;;) {
    const grant = await store.recoverGrant(recovery);
    if (grant !== null) return { grant, grant_secret: secret.credential };

    const history = await store.findGrantHistory(grant_id);
    const reason = hindrance(history, application_id, exchanged_after);
    if (reason !== null) throw DomainError.because(reason, { grant_id });
    // Nothing stands in its way, so the code was exchanged between the write and the look: by the
    // very call whose answer was given up on. That happens once.
  }
}

/** Why a grant can't be recovered; null where it can. */
function hindrance(
  history: GrantHistory | null,
  application_id: string,
  exchanged_after: Milliseconds,
): Reason | null {
  const absent = absence(history, application_id);
  if (absent !== null) return absent;
  if (history?.revoked_at != null) return 'revoked_before_recovery';
  if (history?.first_used_at != null) return 'grant_used';
  return (history?.created_at ?? 0) > exchanged_after ? null : 'exchanged_too_long_ago';
}
