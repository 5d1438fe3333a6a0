import { randomUUID, timingSafeEqual } from 'node:crypto';
import {
  type CredentialKind,
  formatTimestamp,
  isUuid,
  parseCredential,
  uuidV7Time,
} from '../../../packages/schema/src/index.ts';
import { hashCredential, mint, uuidV7 } from '../credentials.ts';
import { USERNAME } from '../wires/rest.ts';
import type { AccountRecord, ApplicationRecord, Records } from './records.ts';

// The least that any server of `docs/protocol` has to do for a request.

/** Thrown to refuse a request. */
export class Refused extends Error {
  readonly status: number;
  readonly errorCode: string;

  constructor(status: number, errorCode: string) {
    super(errorCode);
    this.status = status;
    this.errorCode = errorCode;
  }
}

const CODE_LIFETIME = 300_000;
const SCOPE = 'profile.read';

function bearer(header: string | undefined, kind: CredentialKind): { id: string; token: string } {
  if (header === undefined) throw new Refused(401, 'credentials_missing');
  const token = /^bearer +(\S+)$/i.exec(header)?.[1] ?? '';
  const id = parseCredential(kind, token);
  if (id === null) throw new Refused(401, 'credentials_invalid');
  return { id, token };
}

const accountObject = (account: AccountRecord) => ({ object: 'service_account', ...account });

/** Creates an application and an account, and a function that issues codes for them. */
export async function setUp(
  records: Records,
): Promise<{ secret: string; issue(count: number): Promise<string[]> }> {
  const id = uuidV7(Date.now());
  const { credential, hash } = mint('applicationSecret', id);
  await records.createApplication({
    id,
    name: 'Application',
    disabled: false,
    secret_hash: hash,
  });
  const account: AccountRecord = {
    id: randomUUID(),
    username: USERNAME,
    display_name: USERNAME,
    twitter: null,
    verified: false,
    supporter: false,
  };
  await records.putAccount(account);

  async function issueOne(): Promise<string> {
    const now = Date.now();
    const grant_id = uuidV7(now);
    const code = mint('code', grant_id);
    await records.issueCode({
      grant_id,
      application_id: id,
      scope: SCOPE,
      account,
      code_hash: code.hash,
      code_expires_at: now + CODE_LIFETIME,
    });
    return code.credential;
  }
  async function issue(count: number): Promise<string[]> {
    const codes: string[] = [];
    while (codes.length < count) codes.push(await issueOne());
    return codes;
  }
  return { secret: credential, issue };
}

export async function authenticateApplication(
  records: Records,
  header: string | undefined,
): Promise<ApplicationRecord> {
  const { id, token } = bearer(header, 'applicationSecret');
  const application = await records.findApplication(id);
  if (
    !application ||
    application.disabled ||
    !timingSafeEqual(application.secret_hash, hashCredential(token))
  ) {
    throw new Refused(401, 'credentials_invalid');
  }
  return application;
}

export async function convert(records: Records, application: ApplicationRecord, input: unknown) {
  const code = (input as { code?: unknown } | null)?.code;
  if (typeof code !== 'string' || code === '') throw new Refused(400, 'parameter_invalid');
  const grant_id = parseCredential('code', code);
  if (grant_id === null) throw new Refused(400, 'code_not_found');
  const now = Date.now();
  if (now >= (uuidV7Time(grant_id) ?? 0) + CODE_LIFETIME) throw new Refused(400, 'code_expired');
  const secret = mint('grantSecret', grant_id);
  const grant = await records.redeemCode({
    grant_id,
    application_id: application.id,
    code_hash: hashCredential(code),
    secret_hash: secret.hash,
    now,
  });
  if (grant === null) throw new Refused(400, 'code_not_found');
  return {
    object: 'oauth_grant',
    grant_id,
    created_at: formatTimestamp(grant.created_at),
    scope: grant.scope,
    grant_secret: secret.credential,
    revoked: false,
    account: accountObject(grant.account),
  };
}

export async function revoke(records: Records, application: ApplicationRecord, input: unknown) {
  const grant_id = (input as { grant_id?: unknown } | null)?.grant_id;
  if (typeof grant_id !== 'string' || !isUuid(grant_id)) {
    throw new Refused(400, 'parameter_invalid');
  }
  const revocation = { grant_id, application_id: application.id, now: Date.now() };
  const grant = await records.revokeGrant(revocation);
  if (grant === null) throw new Refused(404, 'grant_not_found');
  const created_at = formatTimestamp(grant.created_at);
  return { object: 'oauth_grant', grant_id, created_at, revoked: true };
}

export async function account(records: Records, header: string | undefined) {
  const { id: grant_id, token } = bearer(header, 'grantSecret');
  const found = await records.authenticateGrant(grant_id);
  const secret_hash = hashCredential(token);
  if (
    !found?.secret_hash ||
    !found.account ||
    found.application_disabled ||
    !timingSafeEqual(found.secret_hash, secret_hash)
  ) {
    throw new Refused(401, 'credentials_invalid');
  }
  if (found.first_used_at === null) {
    const active = await records.noteFirstUse({ grant_id, secret_hash, now: Date.now() });
    if (!active) throw new Refused(401, 'credentials_invalid');
  }
  return accountObject(found.account);
}
