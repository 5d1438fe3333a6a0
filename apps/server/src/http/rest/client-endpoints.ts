import { DomainError } from '@latchkey/domain/domain-error';
import type { FullGrant, OperationName, TokenResponse } from '@latchkey/schema';
import { type Operation, operations } from '../../operations/operation.ts';
import { basicChallenge, bearerChallenge } from '../challenge.ts';
import type { ClientEndpoint } from './client-route.ts';

const operation = (name: OperationName) => operations.get(name) as Operation;
const convert = operation('grants.convert');
const revoke = operation('grants.revoke');
const revokeToken = operation('grants.revokeToken');
const introspect = operation('grants.introspect');

const basicChallenges = { form: basicChallenge, json: basicChallenge };
const tokenParameters = ['token', 'token_type_hint'];

const token: ClientEndpoint = {
  path: '/oauth/token',
  operations: { form: convert, json: convert },
  choose({ grant_type }) {
    if (typeof grant_type !== 'string' || grant_type === '') {
      throw DomainError.invalid(['grant_type'], 'Must be authorization_code.');
    }
    if (grant_type !== 'authorization_code') throw new DomainError('grant_type_unsupported');
    return convert;
  },
  parameters: ['grant_type', 'code', 'redirect_uri', 'code_verifier', 'resource'],
  takesPublic: true,
  challenges: basicChallenges,
  // RFC 6749, section 5.1, for caches of HTTP/1.0.
  headers: { Pragma: 'no-cache' },
  toBody: (output) => toTokenResponse(output as FullGrant),
};

const revocation: ClientEndpoint = {
  path: '/oauth/revoke',
  operations: { form: revokeToken, json: revoke },
  choose({ token, grant_id }, format) {
    if ((token === undefined) === (grant_id === undefined)) {
      throw DomainError.invalid([], 'Give exactly one of token and grant_id.');
    }
    return format === 'json' && token === undefined ? revoke : revokeToken;
  },
  parameters: [...tokenParameters, 'grant_id'],
  takesPublic: true,
  isOwnInJson: true,
  challenges: { form: basicChallenge, json: bearerChallenge },
};

const introspection: ClientEndpoint = {
  path: '/oauth/introspect',
  operations: { form: introspect, json: introspect },
  choose: () => introspect,
  parameters: tokenParameters,
  takesPublic: false,
  challenges: basicChallenges,
};

export const clientEndpoints: readonly ClientEndpoint[] = [token, revocation, introspection];

function toTokenResponse(grant: FullGrant): TokenResponse {
  const { grant_secret, scope } = grant;
  return { access_token: grant_secret, token_type: 'Bearer', scope, grant };
}
