import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Answer, Attempt, Code, Server } from 'oauth-race';

const REDIRECT_URI = 'https://application.example/callback';

const randomVerifier = () => randomBytes(32).toString('base64url');
const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

/**
 * Registers two applications and an account on a running Latchkey, and calls it over REST. Codes are
 * redeemed over both routes in turn: `/oauth/convert` as the SDK does, `/oauth/token` as every other
 * OAuth client does.
 */
export async function latchkeyServer(url: string, adminSecret: string): Promise<Server> {
  function call(method: string, path: string, secret: string | null, body?: object) {
    return fetch(url + path, {
      method,
      headers: {
        ...(secret !== null && { authorization: `Bearer ${secret}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  async function administer(method: string, path: string, body?: object) {
    const response = await call(method, path, adminSecret, body);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as Record<'id' | 'secret' | 'code', string>;
  }

  const account_id = randomUUID();
  await administer('PUT', `/admin/accounts/${account_id}`, { username: 'ada' });
  const application = await administer('POST', '/admin/applications', { name: 'Application' });
  const other = await administer('POST', '/admin/applications', { name: 'Other application' });
  // Well formed with a valid checksum, so that only the store can refuse it.
  const secretsPath = `/admin/applications/${application.id}/secrets`;
  const removed = await administer('POST', secretsPath, {});
  await administer('DELETE', `${secretsPath}/${removed.id}`);

  function secretOf({ client, secret }: Attempt): string | null {
    if (secret === 'none') return null;
    if (secret === 'wrong') return removed.secret;
    return client === 'own' ? application.secret : other.secret;
  }

  async function redeem(path: string, { code, verifier }: Code, attempt: Attempt): Promise<Answer> {
    const start = performance.now();
    const code_verifier = { right: verifier, wrong: randomVerifier(), none: null }[
      attempt.verifier
    ];
    const response = await call('POST', path, secretOf(attempt), {
      grant_type: 'authorization_code',
      code,
      redirect_uri: attempt.redirectUri === 'right' ? REDIRECT_URI : `${REDIRECT_URI}/other`,
      ...(code_verifier !== null && { code_verifier }),
    });
    const { status } = response;
    const body = await response.text();
    const milliseconds = performance.now() - start;
    if (status === 200) {
      const { grant_secret, access_token } = JSON.parse(body);
      return { kind: 'token', token: grant_secret ?? access_token, milliseconds };
    }
    if (status === 400 || status === 401) {
      return { kind: 'refused', status, error: JSON.parse(body).error_code, milliseconds };
    }
    return {
      kind: 'broken',
      status,
      reason: `${path} responded with ${status}: ${body}`,
      milliseconds,
    };
  }

  let redemptions = 0;

  return {
    // As far as a row is told: it has no part in which of the two routes is taken.
    routes: 1,
    hasSecret: true,
    hasOtherClient: true,
    revoke: null,
    checks: [
      {
        name: 'resource',
        async passes(grant) {
          const response = await call('GET', '/v1/account', grant);
          const text = await response.text();
          if (response.status === 200 || response.status === 401) return response.status === 200;
          throw new Error(`/v1/account responded with ${response.status}: ${text}`);
        },
      },
    ],
    async issue({ challenge }) {
      const verifier = challenge ? randomVerifier() : null;
      const { code } = await administer('POST', '/admin/codes', {
        ...{ application_id: application.id, account_id, scope: 'profile.read' },
        redirect_uri: REDIRECT_URI,
        ...(verifier !== null && { code_challenge: challengeOf(verifier) }),
      });
      return { code, verifier };
    },
    async connect() {
      const path = redemptions++ % 2 === 0 ? '/oauth/convert' : '/oauth/token';
      return (code, attempt) => redeem(path, code, attempt);
    },
  };
}
