import type { OperationInput, OperationName, OperationOutput, Operations } from '@latchkey/schema';
import { checkCode, checkGrantId } from './arguments.ts';

/** A call of an operation over the service's tRPC wire. */
export interface Call<Name extends OperationName> {
  readonly path: Name;
  /** As over REST: a query is sent with GET, a mutation with POST. */
  readonly method: Operations[Name]['method'] extends 'GET' ? 'GET' : 'POST';
  readonly input: OperationInput<Name> extends Record<string, never>
    ? undefined
    : OperationInput<Name>;
  /** What of the input no error may show. */
  readonly secretInput?: string;
  /** Whether to do it twice is as good as to do it once. */
  readonly isRepeatable: boolean;
  /** The `object` member of its result, which tells it from an answer of something else. */
  readonly returns: OperationOutput<Name>['object'];
}

export const convertCall = (code: string): Call<'grants.convert'> => ({
  path: 'grants.convert',
  method: 'POST',
  input: { code: checkCode(code) },
  secretInput: code,
  isRepeatable: false,
  returns: 'oauth_grant',
});

export const revokeCall = (grantId: string): Call<'grants.revoke'> => ({
  path: 'grants.revoke',
  method: 'POST',
  input: { grant_id: checkGrantId(grantId) },
  isRepeatable: true,
  returns: 'oauth_grant',
});

export const recoverCall = (grantId: string): Call<'grants.recover'> => ({
  path: 'grants.recover',
  method: 'POST',
  input: { grant_id: checkGrantId(grantId) },
  isRepeatable: false,
  returns: 'oauth_grant',
});

export const accountCall: Call<'account.get'> = {
  path: 'account.get',
  method: 'GET',
  input: undefined,
  isRepeatable: true,
  returns: 'service_account',
};

export const grantCall: Call<'account.grant'> = {
  path: 'account.grant',
  method: 'GET',
  input: undefined,
  isRepeatable: true,
  returns: 'oauth_grant',
};
