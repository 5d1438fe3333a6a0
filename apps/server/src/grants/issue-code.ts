import { mintCredential, newId } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import type { Origin } from '../origin.ts';
import type { Service } from '../service.ts';
import type { PendingRecord } from '../store/records.ts';
import { CODE_LIFETIME } from './code-lifetime.ts';

/**
 * Issues a code for an application to exchange. The account is copied into it as it is now, so that
 * the exchange needs no second look-up.
 *
 * @param origin - kept with the code, and with the grant that it becomes
 * @throws DomainError `application_not_found`, `account_not_found`
 */
export async function issueCode(
  { store, clock }: Service,
  request: { application_id: string; account_id: string; scope: string },
  origin: Origin,
): Promise<{ code: string; pending: PendingRecord }> {
  const [application, account] = await Promise.all([
    store.findApplication(request.application_id),
    store.findAccount(request.account_id),
  ]);
  if (application === null) throw new DomainError('application_not_found');
  if (account === null) throw new DomainError('account_not_found');

  // The clock is read last: the look-ups must not eat of the code's 300 seconds.
  const now = clock();
  const grant_id = newId(now);
  const { credential, hash } = mintCredential('code', grant_id);
  const pending = {
    grant_id,
    application_id: application.id,
    scope: request.scope,
    account,
    code_hash: hash,
    code_expires_at: now + CODE_LIFETIME,
  };
  await store.issueCode({ ...pending, origin });
  return { code: credential, pending };
}

/**
 * Cancels a code that nobody has exchanged; it is unknown from then on.
 *
 * @throws DomainError `grant_not_found`: unknown, or exchanged
 */
export async function cancelCode({ store }: Service, grant_id: string): Promise<PendingRecord> {
  const pending = await store.cancelCode(grant_id);
  if (pending === null) {
    const history = await store.findGrantHistory(grant_id);
    throw DomainError.because(history === null ? 'grant_unknown' : 'code_exchanged', { grant_id });
  }
  return pending;
}
