import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { bodyUnlessRefused, type Contender, type Redeemer } from './contender.ts';

const REDIRECT_URI = 'https://application.example/callback';

const randomVerifier = () => randomBytes(32).toString('base64url');
const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

/**
 * Registers two applications and an account on a running Latchkey, and calls it over REST. Codes are
 * redeemed over both routes in turn: `/oauth/convert` as the SDK does, `/oauth/token` as every other
 * OAuth client does.
 */
export async function latchkeyContender(
  url: string,
  adminSecret: string,
): Promise<Omit<Contender, 'close'>> {
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
    const response = await bodyUnlessRefused(await call(method, path, adminSecret, body));
    if (response === null) throw new Error(`${method} ${path} was refused.`);
    return response as Record<'id' | 'secret' | 'code', string>;
  }

  const account_id = randomUUID();
  await administer('PUT', `/admin/accounts/${account_id}`, { username: 'ada' });
  const application = await administer('POST', '/admin/applications', { name: 'Application' });
  const other = await administer('POST', '/admin/applications', { name: 'Other application' });
  // Well formed with a valid checksum, so that only the store can refuse it.
  const secretsPath = `/admin/applications/${application.id}/secrets`;
  const removed = await administer('POST', secretsPath, {});
  await administer('DELETE', `${secretsPath}/${removed.id}`);
  const secrets: Record<Redeemer, string | null> = {
    application: application.secret,
    'wrong secret': removed.secret,
    'wrong verifier': application.secret,
    'other redirect URI': application.secret,
    'other application': other.secret,
    nobody: null,
  };
  const codeRequest = { application_id: application.id, account_id, scope: 'profile.read' };

  const verifiers = new Map<string, string>();

  async function issue(binding: (verifier: string) => object): Promise<string> {
    const verifier = randomVerifier();
    const redirect = { redirect_uri: REDIRECT_URI };
    const request = { ...codeRequest, ...redirect, ...binding(verifier) };
    const { code } = await administer('POST', '/admin/codes', request);
    verifiers.set(code, verifier);
    return code;
  }

  let redemptions = 0;

  return {
    issue: () => issue((verifier) => ({ code_challenge: challengeOf(verifier) })),
    issueWithoutChallenge: () => issue(() => ({})),
    async redeem(code, by) {
      // Only the application knows the verifier. It never goes through the browser.
      const knowsVerifier = ['application', 'wrong secret', 'other redirect URI'].includes(by);
      const path = redemptions++ % 2 === 0 ? '/oauth/convert' : '/oauth/token';
      const response = await call('POST', path, secrets[by], {
        grant_type: 'authorization_code',
        code,
        redirect_uri: by === 'other redirect URI' ? `${REDIRECT_URI}/other` : REDIRECT_URI,
        code_verifier: (knowsVerifier && verifiers.get(code)) || randomVerifier(),
      });
      const body = await bodyUnlessRefused(response);
      return body?.grant_secret ?? body?.access_token ?? null;
    },
    accepts: async (grant) =>
      (await bodyUnlessRefused(await call('GET', '/v1/account', grant))) !== null,
  };
}
