import type {
  Account,
  FullGrant,
  OperationInput,
  OperationName,
  OperationOutput,
  Operations,
  RevokedGrant,
} from '@latchkey/schema';
import { checkCode, checkGrantId, checkGrantSecret, checkToken } from './arguments.ts';
import type { IsResult } from './read-response.ts';
import type { WithResponse } from './response-details.ts';
import type { RequestCall } from './send-request.ts';

/** How to call an operation. */
export interface OperationCall<Name extends OperationName> extends RequestCall {
  readonly operation: Name;
  readonly method: Operations[Name]['method'] extends 'GET' ? 'GET' : 'POST';
  readonly input: OperationInput<Name> extends Record<string, never>
    ? undefined
    : OperationInput<Name>;
}

/** The result of an operation. */
export type ResultOf<Name extends OperationName> = WithResponse<OperationOutput<Name>>;

/** Whether a result has the `object` member of its kind. */
export const hasObject =
  (object: string): IsResult =>
  (data) =>
    data.object === object;

const isGrant = hasObject('oauth_grant' satisfies FullGrant['object'] & RevokedGrant['object']);

/** The values that a code of the linking flow is bound to. */
export interface CodeBinding {
  readonly redirectUri?: string | undefined;
  readonly codeVerifier?: string | undefined;
}

export const convertCall = (
  code: string,
  { redirectUri, codeVerifier }: CodeBinding,
): OperationCall<'grants.convert'> => ({
  operation: 'grants.convert',
  method: 'POST',
  // JSON has no undefined members.
  input: { code: checkCode(code), redirect_uri: redirectUri, code_verifier: codeVerifier },
  secretInputs: [code, codeVerifier ?? ''],
  isIdempotent: false,
  isResult: isGrant,
});

export const revokeCall = (grantId: string): OperationCall<'grants.revoke'> => ({
  operation: 'grants.revoke',
  method: 'POST',
  input: { grant_id: checkGrantId(grantId) },
  isIdempotent: true,
  isResult: isGrant,
});

export const revokeTokenCall = (token: string): OperationCall<'grants.revokeToken'> => ({
  operation: 'grants.revokeToken',
  method: 'POST',
  input: { token: checkGrantSecret(token) },
  secretInputs: [token],
  isIdempotent: true,
  // It is empty, unless a newer service adds members.
  isResult: (data) => data.object === undefined,
});

export const introspectCall = (token: string): OperationCall<'grants.introspect'> => ({
  operation: 'grants.introspect',
  method: 'POST',
  input: { token: checkToken(token) },
  secretInputs: [token],
  isIdempotent: true,
  isResult: (data) => typeof data.active === 'boolean',
});

export const recoverCall = (grantId: string): OperationCall<'grants.recover'> => ({
  operation: 'grants.recover',
  method: 'POST',
  input: { grant_id: checkGrantId(grantId) },
  isIdempotent: false,
  isResult: isGrant,
});

export const accountCall: OperationCall<'account.get'> = {
  operation: 'account.get',
  method: 'GET',
  input: undefined,
  isIdempotent: true,
  isResult: hasObject('service_account' satisfies Account['object']),
};

export const grantCall: OperationCall<'account.grant'> = {
  operation: 'account.grant',
  method: 'GET',
  input: undefined,
  isIdempotent: true,
  isResult: isGrant,
};
