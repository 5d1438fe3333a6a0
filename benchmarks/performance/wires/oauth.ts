import { REDIRECT_URI, type Registration } from '../../peers/registration.ts';
import type { HttpRequest } from '../connection.ts';
import { type Wire, wrongAnswer } from '../contender.ts';

/** A code of an OAuth server and the PKCE verifier that goes with it, as one text. */
export const codeWithVerifier = (code: string, verifier: string): string => `${code} ${verifier}`;

/**
 * The endpoints of an OAuth server that exchange a code (RFC 6749, section 4.1.3) and revoke a token
 * (RFC 7009), where there is one, for an application with `client_secret_basic`.
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
      result(answer) {
        if (answer.status !== 200) throw wrongAnswer('convert', answer);
        const { access_token, token_type } = JSON.parse(answer.body);
        if (typeof access_token !== 'string' || !/^bearer$/i.test(token_type)) {
          throw wrongAnswer('convert', answer);
        }
        return { id: '', secret: access_token };
      },
    },
    ...(revocation !== undefined && {
      revoke: {
        request: ({ secret }) =>
          post(revocation, { token: secret, token_type_hint: 'access_token' }),
        result(answer) {
          if (answer.status !== 200) throw wrongAnswer('revoke', answer);
        },
      },
    }),
  };
}
