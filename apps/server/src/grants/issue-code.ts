import { mintCredential, newId } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import type { Initiator } from '../initiator.ts';
import type { Service } from '../service.ts';
import type { PendingRecord } from '../store/records.ts';
import { CODE_LIFETIME } from './code-lifetime.ts';

export interface CodeRequest {
  application_id: string;
  account_id: string;
  scope: string;
  redirect_uri?: string | undefined;
  code_challenge?: string | undefined;
}

/** The snapshot of the account saves the redemption a second read. */
export async function issueCode(
  { store, clock }: Service,
  request: CodeRequest,
  initiator: Initiator,
): Promise<{ code: string; pending: PendingRecord }> {
  // The store checks the account again when it takes the snapshot.
  const [application, account] = await Promise.all([
    store.findApplication(request.application_id),
    store.findAccount(request.account_id),
  ]);
  if (application === null) throw new DomainError('application_not_found');
  if (account === null) throw new DomainError('account_not_found');

  // After the look-ups, so that they do not shorten the lifetime of the code.
  const now = clock();
  const grant_id = newId(now);
  const { credential, hash } = mintCredential('code', grant_id);
  const pending = await store.issueCode({
    grant_id,
    application_id: request.application_id,
    account_id: request.account_id,
    scope: request.scope,
    redirect_uri: request.redirect_uri ?? null,
    redirect_uri_given: request.redirect_uri !== undefined,
    code_challenge: request.code_challenge ?? null,
    link_id: null,
    code_hash: hash,
    code_expires_at: now + CODE_LIFETIME,
    initiator,
  });
  if (pending === null) throw new DomainError('account_not_found');
  return { code: credential, pending };
}
