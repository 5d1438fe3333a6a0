import { type CredentialKind, formatCredential } from '@latchkey/schema';

export const grantId = '0193aa00-0000-7000-8000-000000000001';
export const applicationId = '0193aa00-0000-7000-8000-000000000003';

export const credential = (kind: CredentialKind, byte: number) =>
  formatCredential(kind, grantId, new Uint8Array(32).fill(byte));

export const applicationSecret = credential('applicationSecret', 1);
export const code = credential('code', 2);
export const grantSecret = credential('grantSecret', 3);

export const account = {
  object: 'service_account',
  id: '0193aa00-0000-7000-8000-000000000002',
  username: 'ada',
  display_name: 'Ada Lovelace',
  twitter: null,
  verified: true,
  supporter: false,
};

const head = {
  object: 'oauth_grant',
  grant_id: grantId,
  created_at: '2026-11-21T02:15:30.123+00:00',
};

const scope = 'profile.read';
export const grantDescription = {
  ...head,
  application_id: applicationId,
  scope,
  revoked: false,
  account,
};
export const fullGrant = { ...head, scope, grant_secret: grantSecret, revoked: false, account };
export const revokedGrant = { ...head, revoked: true };
