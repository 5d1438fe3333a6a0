import type { Milliseconds } from '@latchkey/domain/clock';
import { hashCredential, readCredential, sameHash } from '@latchkey/domain/credentials/credentials';
import { accountSubject, DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { USE_NOTED_AFTER } from '@latchkey/domain/lifetimes';
import type { Reason } from '@latchkey/domain/reasons';
import type { AccountRecord, CredentialHash, GrantAuthentication } from '@latchkey/store/records';
import { isUnusedSince, unusedBefore } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';

/** A plain read: during a failover it may miss a secret that was just created. */
export async function isKnownGrantSecret(
  { store }: Pick<Dependencies, 'store'>,
  credential: string,
): Promise<boolean> {
  const grant_id = readCredential('grantSecret', credential);
  const found = await store.authenticateGrant(grant_id, {
    currentAccount: false,
    mayBeStale: true,
  });
  return found?.secret_hash != null && sameHash(found.secret_hash, hashCredential(credential));
}

export type ActiveGrant = GrantAuthentication & { secret_hash: CredentialHash };

/** The first use is on disk before this returns, so a used grant can never be recovered. */
export async function authenticateGrant(
  service: Pick<Dependencies, 'store' | 'clock' | 'useNotes' | 'idleGrants'>,
  credential: string,
  options: { grant_id: string | null; currentAccount: boolean },
  initiator: Initiator,
): Promise<GrantAuthentication> {
  const found = await findActiveGrant(service, credential, options);
  // Only `/v1/account` shows the current account. A grant for another resource does not open it.
  if (options.currentAccount && found.grant.resource !== null) {
    throw refusal('grant_of_resource', found);
  }
  await noteUse(service, found, initiator);
  return found;
}

export async function findActiveGrant(
  { store, clock }: Pick<Dependencies, 'store' | 'clock'>,
  credential: string,
  options: { grant_id: string | null; currentAccount: boolean },
): Promise<ActiveGrant> {
  const grant_id = readCredential('grantSecret', credential);
  if (options.grant_id !== null && options.grant_id !== grant_id) {
    throw DomainError.because('basic_names_another_grant', { grant_id });
  }
  const found = await store.authenticateGrant(grant_id, options);
  if (found === null) throw DomainError.because('secret_of_unknown_grant', { grant_id });
  // Its deletion has revoked the grant, and says more.
  if (found.application_disabled === null) throw refusal('application_deleted', found);
  if (!isActive(found)) throw refusal('grant_revoked', found);
  if (!sameHash(found.secret_hash, hashCredential(credential))) {
    throw refusal('grant_secret_wrong', found);
  }
  if (found.application_disabled) throw refusal('application_disabled', found);
  if (isIdle(found, clock())) throw refusal('grant_idle', found);
  return found;
}

function isIdle({ grant, idle_days, enabled_at }: GrantAuthentication, now: Milliseconds): boolean {
  const before = unusedBefore({ disabled: false, idle_days, enabled_at }, now);
  return before !== null && isUnusedSince(grant, before);
}

const isActive = (found: GrantAuthentication): found is ActiveGrant => found.secret_hash !== null;

export async function noteUse(
  { store, idleGrants, useNotes }: Pick<Dependencies, 'store' | 'idleGrants' | 'useNotes'>,
  active: ActiveGrant,
  initiator: Initiator,
): Promise<void> {
  const { grant_id, last_used_at } = active.grant;
  const now = idleGrants.timeOfUse();
  if (last_used_at !== null && now - last_used_at <= USE_NOTED_AFTER) return;
  const note = () => store.noteUse({ grant_id, secret_hash: active.secret_hash, now, initiator });
  // Otherwise, a process that dies before the write could let a grant end that is in use.
  if (last_used_at !== null && active.idle_days === null) {
    useNotes.write(grant_id, note);
    return;
  }
  if (await note()) return;
  const history = await store.findGrantHistory(grant_id);
  throw refusal(history?.revoked_at === null ? 'grant_secret_wrong' : 'grant_revoked', active);
}

/** An erasure revokes the grant first: only an account deleted by hand is missing. */
export function accountOf({ grant, account }: GrantAuthentication): AccountRecord {
  if (account === null) {
    throw new Error(`The account of the grant ${grant.grant_id} is gone from the store.`);
  }
  return account;
}

function refusal(reason: Reason, { grant, account }: GrantAuthentication): DomainError {
  const { application_id, grant_id } = grant;
  const subject = { application_id, grant_id, ...accountSubject(account?.id) };
  return DomainError.because(reason, subject);
}
