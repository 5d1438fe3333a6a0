import type { Milliseconds } from '@latchkey/domain/clock';
import { mintCredential } from '@latchkey/domain/credentials/credentials';
import { accountSubject, DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { RECOVERY_WINDOW } from '@latchkey/domain/lifetimes';
import type { Reason } from '@latchkey/domain/reasons';
import type { GrantHistory } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import type { GrantWithSecret } from './redeem.ts';
import { whyNotFound } from './why-not-found.ts';

export async function recover(
  { store, clock }: Pick<Dependencies, 'store' | 'clock'>,
  application_id: string,
  grant_id: string,
  initiator: Initiator,
): Promise<GrantWithSecret> {
  const secret = mintCredential('grantSecret', grant_id);
  const now = clock();
  const redeemed_after = now - RECOVERY_WINDOW;
  const recovery = { grant_id, application_id, secret_hash: secret.hash, redeemed_after, now };
  for (;;) {
    const grant = await store.recoverGrant({ ...recovery, initiator });
    if (grant !== null) return { grant, grant_secret: secret.credential };

    const history = await store.findGrantHistory(grant_id);
    const reason = whyNotRecoverable(history, application_id, redeemed_after);
    if (reason !== null) {
      throw DomainError.because(reason, { grant_id, ...accountSubject(history?.account_id) });
    }
    // The lost redemption arrived between the write and the read. This can happen only once.
  }
}

function whyNotRecoverable(
  history: GrantHistory | null,
  application_id: string,
  redeemed_after: Milliseconds,
): Reason | null {
  const notFound = whyNotFound(history, application_id);
  if (notFound !== null) return notFound;
  if (history?.revoked_at != null) return 'revoked_before_recovery';
  if (history?.first_used_at != null) return 'grant_used';
  return (history?.created_at ?? 0) > redeemed_after ? null : 'redeemed_too_long_ago';
}
