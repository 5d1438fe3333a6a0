import type { Milliseconds } from '@latchkey/domain/clock';
import type { ExportPart } from '@latchkey/rules/accounts/export-account';
import { meaningOf } from '@latchkey/rules/audit/explain';
import { accountOf } from '@latchkey/rules/grants/authenticate-grant';
import type { GrantWithSecret } from '@latchkey/rules/grants/redeem';
import type { ShownAs } from '@latchkey/rules/vouchers';
import {
  type Account,
  type AccountEntry,
  type AccountExport,
  type Application,
  type ApplicationProfile,
  type ApplicationSecret,
  type CancelledCode,
  type CodeEntry,
  type FullGrant,
  formatTimestamp,
  type GrantDescription,
  type GrantEntry,
  type Introspection,
  type Refusal,
  type RevokedGrant,
} from '@latchkey/schema';
import type {
  AccountRecord,
  ApplicationRecord,
  CurrentAccount,
  GrantAuthentication,
  GrantRecord,
  PendingRecord,
  RefusalRecord,
  RevokedRecord,
  SecretRecord,
} from '@latchkey/store/records';
import { withoutOutdated } from '@latchkey/store/secrets';

// Each function names its members one by one, so that nothing else, such as a hash, can be sent.

export const timestampOrNull = (moment: Milliseconds | null) =>
  moment === null ? null : formatTimestamp(moment);

export function toAccount(account: AccountRecord): Account {
  return {
    object: 'service_account',
    id: account.id,
    username: account.username,
    display_name: account.display_name,
    twitter: account.twitter,
    verified: account.verified,
    supporter: account.supporter,
  };
}

export function toAccountEntry(account: CurrentAccount): AccountEntry {
  return { ...toAccount(account), external_id: account.external_id ?? null };
}

export function toFullGrant({ grant, grant_secret }: GrantWithSecret): FullGrant {
  return {
    object: 'oauth_grant',
    grant_id: grant.grant_id,
    created_at: formatTimestamp(grant.created_at),
    scope: grant.scope,
    grant_secret,
    revoked: false,
    account: toAccount(grant.account),
  };
}

export function toGrantDescription(found: GrantAuthentication): GrantDescription {
  const { grant } = found;
  return {
    object: 'oauth_grant',
    grant_id: grant.grant_id,
    application_id: grant.application_id,
    document_uri: found.document_uri,
    created_at: formatTimestamp(grant.created_at),
    resource: grant.resource,
    choice: grant.choice,
    scope: grant.scope,
    revoked: false,
    account: toAccount(accountOf(found)),
    external_id: found.external_id,
  };
}

export function toIntrospection(found: GrantAuthentication | null, issuer: string): Introspection {
  if (found === null) return { active: false };
  const { grant } = found;
  const account = accountOf(found);
  return {
    active: true,
    scope: grant.scope,
    client_id: found.document_uri ?? grant.application_id,
    token_type: 'Bearer',
    sub: account.id,
    username: account.username,
    external_id: found.external_id,
    choice: grant.choice,
    iss: issuer,
    aud: grant.resource ?? `${issuer}/v1`,
    iat: Math.floor(grant.created_at / 1000),
    grant_id: grant.grant_id,
  };
}

export function toRevokedGrant(grant: RevokedRecord): RevokedGrant {
  return {
    object: 'oauth_grant',
    grant_id: grant.grant_id,
    created_at: formatTimestamp(grant.created_at),
    revoked: true,
  };
}

export function toGrantEntry(grant: GrantRecord): GrantEntry {
  return {
    object: 'oauth_grant',
    grant_id: grant.grant_id,
    application_id: grant.application_id,
    created_at: formatTimestamp(grant.created_at),
    resource: grant.resource,
    choice: grant.choice,
    scope: grant.scope,
    revoked: grant.revoked_at !== null,
    revoked_at: timestampOrNull(grant.revoked_at),
    last_used_at: timestampOrNull(grant.last_used_at),
    account: toAccount(grant.account),
  };
}

function toCodeEntry(code: PendingRecord): CodeEntry {
  return {
    object: 'oauth_grant',
    grant_id: code.grant_id,
    application_id: code.application_id,
    expires_at: formatTimestamp(code.code_expires_at),
    resource: code.resource,
    choice: code.choice,
    scope: code.scope,
    revoked: false,
    revoked_at: null,
    account: toAccount(code.account),
  };
}

type Entries = AccountExport['grants' | 'codes' | 'history' | 'refusals'];

function toEntries(part: Exclude<ExportPart, { list: null }>): Entries {
  switch (part.list) {
    case 'grants':
      return part.entries.map(toGrantEntry);
    case 'codes':
      return part.entries.map(toCodeEntry);
    case 'history':
      return part.entries.map(({ at, operation, grant_id, application_id, initiator }) => ({
        at: formatTimestamp(at),
        operation,
        by: initiator?.by ?? null,
        key_id: initiator?.key_id ?? null,
        grant_id,
        application_id,
        request_id: initiator?.request_id ?? null,
      }));
    case 'refusals':
      return part.entries.map((refusal) => ({
        at: formatTimestamp(refusal.at),
        operation: refusal.operation,
        by: refusal.by,
        key_id: refusal.key_id,
        grant_id: refusal.grant_id,
        application_id: refusal.application_id,
        request_id: refusal.request_id,
        error_code: refusal.error_code,
      }));
  }
}

/** The text of an {@link AccountExport}. The first piece has grants already. */
export async function* accountExportText(
  parts: AsyncIterable<ExportPart>,
): AsyncGenerator<string, void> {
  let text = '{"object":"account_export"';
  let list: ExportPart['list'] = null;
  let separator = '';
  for await (const part of parts) {
    if (part.list === null) {
      text += `,"account":${JSON.stringify(toAccountEntry(part.account))}`;
      continue;
    }
    if (part.list !== list) {
      text += `${list === null ? '' : ']'},"${part.list}":[`;
      list = part.list;
      separator = '';
    }
    for (const entry of toEntries(part)) {
      text += separator + JSON.stringify(entry);
      separator = ',';
    }
    yield text;
    text = '';
  }
  yield ']}';
}

export function toRefusal(refusal: RefusalRecord): Refusal {
  return {
    object: 'refusal',
    at: formatTimestamp(refusal.at),
    request_id: refusal.request_id,
    operation: refusal.operation,
    error_code: refusal.error_code,
    reason: refusal.reason,
    ...meaningOf(refusal.error_code, refusal.reason),
    by: refusal.by,
    application_id: refusal.application_id,
    account_id: refusal.account_id,
    grant_id: refusal.grant_id,
    key_id: refusal.key_id,
    address: refusal.address,
  };
}

export function toApplicationSecret(secret: SecretRecord): ApplicationSecret {
  return {
    object: 'application_secret',
    id: secret.id,
    hint: secret.hint,
    created_at: formatTimestamp(secret.created_at),
    expires_at: timestampOrNull(secret.expires_at),
    last_used_at: timestampOrNull(secret.last_used_at),
  };
}

/** With a name that somebody has asked about. */
type ShownRecord = ShownAs<ApplicationRecord>;

/** @param now - of the secrets that have expired by then, it shows some */
export function toApplication(application: ShownRecord, now: Milliseconds): Application {
  return {
    object: 'application',
    id: application.id,
    document_uri: application.document?.uri ?? null,
    name: application.name,
    disabled: application.disabled,
    created_at: formatTimestamp(application.created_at),
    secrets: withoutOutdated(application.secrets, now).map(toApplicationSecret),
    redirect_uris: application.redirect_uris,
    scopes: application.scopes,
    default_scopes: application.default_scopes,
    logo_uri: application.logo_uri,
    homepage_uri: application.homepage_uri,
    policy_uri: application.policy_uri,
    tos_uri: application.tos_uri,
    public: application.public,
    resource_server: application.resource_server,
    challenge_required: application.challenge_required,
    idle_days: application.idle_days,
    grants_per_account: application.grants_per_account,
  };
}

export function toApplicationProfile<Id extends string | null>(
  application: Omit<ShownRecord, 'id'> & { id: Id },
): Omit<ApplicationProfile, 'id'> & { id: Id } {
  return {
    object: 'application_profile',
    id: application.id,
    document_uri: application.document?.uri ?? null,
    name: application.name,
    logo_uri: application.logo_uri,
    homepage_uri: application.homepage_uri,
    policy_uri: application.policy_uri,
    tos_uri: application.tos_uri,
    vouched: application.vouched,
  };
}

export function toCodeMembers(pending: PendingRecord) {
  return {
    grant_id: pending.grant_id,
    application_id: pending.application_id,
    account_id: pending.account.id,
    resource: pending.resource,
    choice: pending.choice,
    scope: pending.scope,
    expires_at: formatTimestamp(pending.code_expires_at),
  };
}

export function toCancelledCode(pending: PendingRecord): CancelledCode {
  return { object: 'grant_code', ...toCodeMembers(pending), cancelled: true };
}
