import type { OperationInput, OperationName, OperationOutput, Operations } from '@latchkey/schema';
import { checkCode, checkGrantId } from './arguments.ts';

/** How to call an operation over the service's tRPC interface. */
export interface OperationCall<Name extends OperationName> {
  readonly operation: Name;
  /** A query is sent with GET, a mutation with POST. */
  readonly method: Operations[Name]['method'] extends 'GET' ? 'GET' : 'POST';
  readonly input: OperationInput<Name> extends Record<string, never>
    ? undefined
    : OperationInput<Name>;
  /** The part of the input that no error may show. */
  readonly secretInput?: string;
  /** Whether repeating it has the same effect as doing it once. */
  readonly isIdempotent: boolean;
  /** The `object` member of its result. A response without it is not from Latchkey. */
  readonly resultObject: OperationOutput<Name>['object'];
}

export const convertCall = (code: string): OperationCall<'grants.convert'> => ({
  operation: 'grants.convert',
  method: 'POST',
  input: { code: checkCode(code) },
  secretInput: code,
  isIdempotent: false,
  resultObject: 'oauth_grant',
});

export const revokeCall = (grantId: string): OperationCall<'grants.revoke'> => ({
  operation: 'grants.revoke',
  method: 'POST',
  input: { grant_id: checkGrantId(grantId) },
  isIdempotent: true,
  resultObject: 'oauth_grant',
});

export const recoverCall = (grantId: string): OperationCall<'grants.recover'> => ({
  operation: 'grants.recover',
  method: 'POST',
  input: { grant_id: checkGrantId(grantId) },
  isIdempotent: false,
  resultObject: 'oauth_grant',
});

export const accountCall: OperationCall<'account.get'> = {
  operation: 'account.get',
  method: 'GET',
  input: undefined,
  isIdempotent: true,
  resultObject: 'service_account',
};

export const grantCall: OperationCall<'account.grant'> = {
  operation: 'account.grant',
  method: 'GET',
  input: undefined,
  isIdempotent: true,
  resultObject: 'oauth_grant',
};
