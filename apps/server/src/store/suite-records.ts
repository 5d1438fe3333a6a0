import { v7 } from 'uuid';
import type { Origin } from '../origin.ts';
import type {
  AccountRecord,
  ApplicationRecord,
  CredentialHash,
  GrantAuthentication,
  GrantRecord,
  PendingRecord,
  RefusalRecord,
  SecretRecord,
} from './records.ts';
import type { Recovery, Redemption, Store } from './store.ts';

// Records for the tests. Times are about now, since a database may delete expired codes by its own
// clock.

/** A UUIDv7: later ones are greater, within a millisecond too. */
export const anId = (): string => v7();

export const aHash = (): CredentialHash => crypto.getRandomValues(new Uint8Array(32));

export function aSecret(members: Partial<SecretRecord> = {}): SecretRecord {
  return {
    id: anId(),
    hash: aHash(),
    hint: 'lk_app_…9XyZ',
    created_at: Date.now(),
    expires_at: null,
    last_used_at: null,
    ...members,
  };
}

export function anApplication(members: Partial<ApplicationRecord> = {}): ApplicationRecord {
  return {
    id: anId(),
    name: 'Acme',
    disabled: false,
    created_at: Date.now(),
    secrets: [aSecret()],
    ...members,
  };
}

export function anAccount(members: Partial<AccountRecord> = {}): AccountRecord {
  return {
    id: anId(),
    username: 'ada',
    display_name: 'Ada Lovelace',
    twitter: null,
    verified: false,
    supporter: true,
    ...members,
  };
}

export function aCode(members: Partial<PendingRecord> = {}): PendingRecord {
  return {
    grant_id: anId(),
    application_id: anId(),
    scope: 'profile:read links:write',
    account: anAccount(),
    code_hash: aHash(),
    code_expires_at: Date.now() + 300_000,
    ...members,
  };
}

/** A code that is in the store. */
export async function issued(
  store: Pick<Store, 'issueCode'>,
  members: Partial<PendingRecord> = {},
): Promise<PendingRecord> {
  const code = aCode(members);
  await store.issueCode(code);
  return code;
}

/** What redeems a code. */
export function redemptionOf(code: PendingRecord, members: Partial<Redemption> = {}): Redemption {
  const { grant_id, application_id, code_hash } = code;
  return {
    ...{ grant_id, application_id, code_hash },
    secret_hash: aHash(),
    now: code.code_expires_at - 1_000,
    ...members,
  };
}

export interface Exchanged {
  code: PendingRecord;
  grant: GrantRecord;
  secret_hash: CredentialHash;
}

/** A code that is in the store and was exchanged. */
export async function exchanged(
  store: Pick<Store, 'issueCode' | 'redeemCode'>,
  members: Partial<PendingRecord> = {},
): Promise<Exchanged> {
  const code = await issued(store, members);
  const { grant, secret_hash } = await redeemed(store, code);
  return { code, grant, secret_hash };
}

/** Redeems a code that has to be good. */
export async function redeemed(store: Pick<Store, 'redeemCode'>, code: PendingRecord) {
  const redemption = redemptionOf(code);
  const grant = await store.redeemCode(redemption);
  if (!grant) throw new Error('A good code was not redeemed.');
  return { grant, secret_hash: redemption.secret_hash };
}

/** What recovers a grant. */
export function recoveryOf(grant: GrantRecord, members: Partial<Recovery> = {}): Recovery {
  const { grant_id, application_id } = grant;
  return {
    ...{ grant_id, application_id },
    secret_hash: aHash(),
    exchanged_after: grant.created_at - 1,
    now: grant.created_at,
    ...members,
  };
}

/** A grant whole, its account as it was at issue, as a request with its secret finds it. */
export async function authenticated(store: Store, grant_id: string) {
  const found = await store.authenticateGrant(grant_id, { currentAccount: false });
  return found && { ...found, grant: { ...found.grant, account: found.account } };
}

/** What is found of a grant where its account is wanted as it is now. */
export function withoutAccount({
  account: _,
  ...grant
}: GrantRecord): GrantAuthentication['grant'] {
  return grant;
}

export function anOrigin(members: Partial<Origin> = {}): Origin {
  return { request_id: anId(), by: 'application', secret_id: anId(), ...members };
}

export function aRefusal(members: Partial<RefusalRecord> = {}): RefusalRecord {
  const at = Date.now();
  return {
    id: anId(),
    at,
    request_id: anId(),
    operation: 'grants.convert',
    error_code: 'code_not_found',
    reason: 'code_unknown',
    by: 'application',
    application_id: anId(),
    grant_id: anId(),
    address: '192.0.2.1',
    expires_at: at + 86_400_000,
    ...members,
  };
}

/** As many results as asked for, of calls that run at the same time. */
export function atOnce<T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}

/** Without the nulls. */
export function present<T>(results: (T | null)[]): T[] {
  return results.filter((result) => result !== null);
}
