import { mintCredential, newId } from '@latchkey/domain/credentials/credentials';
import { DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { CODE_LIFETIME } from '@latchkey/domain/lifetimes';
import type { Choice } from '@latchkey/schema';
import type { PendingRecord } from '@latchkey/store/records';
import type { NewCode } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';
import { refuseIfFull } from '../room.ts';

export interface CodeRequest {
  application_id: string;
  account_id: string;
  scope: string;
  /** What the user chose; null for nothing, which is the default. */
  choice?: Choice | null;
  redirect_uri?: string | undefined;
  code_challenge?: string | undefined;
  /** The address of a registered one; null for none, which is the default. */
  resource?: string | null;
}

export interface IssuedCode {
  code: string;
  pending: PendingRecord;
}

export async function issueCode(
  service: Pick<Dependencies, 'store' | 'clock' | 'room'>,
  request: CodeRequest,
  initiator: Initiator,
): Promise<IssuedCode> {
  const { store, clock } = service;
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
  const pending = await storeCode(service, {
    grant_id,
    code_hash: hash,
    code_expires_at: now + CODE_LIFETIME,
    application_id: request.application_id,
    account_id: request.account_id,
    scope: request.scope,
    choice: request.choice ?? null,
    redirect_uri: request.redirect_uri ?? null,
    redirect_uri_given: request.redirect_uri !== undefined,
    code_challenge: request.code_challenge ?? null,
    resource: request.resource ?? null,
    link_id: null,
    generation: application.generations.now,
    application_revocations: application.revocations,
    initiator,
  });
  return { code: credential, pending };
}

export async function storeCode(
  service: Pick<Dependencies, 'store' | 'room'>,
  code: NewCode,
): Promise<PendingRecord> {
  await refuseIfFull(service, code.account_id);
  const pending = await service.store.issueCode(code);
  if (pending === null) throw new DomainError('account_not_found');
  return pending;
}
