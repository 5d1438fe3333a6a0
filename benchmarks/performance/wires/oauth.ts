import { REDIRECT_URI, type Registration } from '../../peers/oauth-client.ts';
import type { HttpRequest } from '../connection.ts';
import { unexpectedResponse, type Wire } from '../contender.ts';

/** A code of an OAuth server and its PKCE verifier, as one text. */
export const codeWithVerifier = (code: string, verifier: string): string => `${code} ${verifier}`;

/**
 * The endpoints of an OAuth server for the token request (RFC 6749, section 4.1.3) and, if it has
 * one, for revocation (RFC 7009). The application authenticates with `client_secret_basic`.
 */
export function oauthWire(
  { client_id, client_secret }: Registration,
  paths: { token: string; revocation?: string },
): Wire {
  const post = (path: string, form: Record<string, string>): HttpRequest => ({
    method: 'POST',
    path,
    headers: {
      Authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams(form).toString(),
  });
  const { revocation } = paths;
  return {
    convert: {
      request(text) {
        const [code = '', code_verifier = ''] = text.split(' ');
        const form = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
        return post(paths.token, { ...form, code_verifier });
      },
      result(response) {
        if (response.status !== 200) throw unexpectedResponse('convert', response);
        const { access_token, token_type } = JSON.parse(response.body);
        if (typeof access_token !== 'string' || !/^bearer$/i.test(token_type)) {
          throw unexpectedResponse('convert', response);
        }
        return { id: '', secret: access_token };
      },
    },
    ...(revocation !== undefined && {
      revoke: {
        request: ({ secret }) =>
          post(revocation, { token: secret, token_type_hint: 'access_token' }),
        result(response) {
          if (response.status !== 200) throw unexpectedResponse('revoke', response);
        },
      },
    }),
  };
}
