import { randomBytes } from 'node:crypto';
import {
  bodyUnlessRefused,
  type Contender,
  type Redeemer,
} from '../../packages/test-kit/src/races/contender.ts';
import { authorizationRequest, REDIRECT_URI, type Registration } from '../peers/oauth-client.ts';

const randomText = () => randomBytes(32).toString('base64url');

/**
 * Two registered applications of an OAuth server: confidential clients that authenticate with
 * `client_secret_basic` and use PKCE, which OAuth 2.1 requires.
 *
 * @param server.authorize - goes through the authorization endpoint as a user's browser does, and
 *   returns the redirect URI with the code
 */
export function oauthApplications(server: {
  token: string;
  userinfo: string;
  application: Registration;
  other: Registration;
  authorize(query: URLSearchParams): Promise<URL>;
}): Omit<Contender, 'close'> {
  const { application, other } = server;
  const verifiers = new Map<string, string>();

  const credentials: Record<Redeemer, Registration | null> = {
    application,
    'wrong secret': { ...application, client_secret: randomText() },
    'wrong verifier': application,
    'other redirect URI': application,
    'other application': other,
    nobody: null,
  };

  async function issue() {
    const { query, verifier } = authorizationRequest(application, 'openid');
    const back = await server.authorize(query);
    const code = back.searchParams.get('code');
    if (code === null) throw new Error(`No code in ${back}`);
    verifiers.set(code, verifier);
    return code;
  }

  async function issueWithoutChallenge() {
    const { query, verifier } = authorizationRequest(application, 'openid');
    query.delete('code_challenge');
    query.delete('code_challenge_method');
    const code = (await server.authorize(query)).searchParams.get('code');
    if (code !== null) verifiers.set(code, verifier);
    return code;
  }

  async function redeem(code: string, by: Redeemer) {
    const own = credentials[by];
    // Only the application knows the verifier. It never goes through the browser.
    const knowsVerifier = ['application', 'wrong secret', 'other redirect URI'].includes(by);
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: by === 'other redirect URI' ? `${REDIRECT_URI}/other` : REDIRECT_URI,
      code_verifier: (knowsVerifier && verifiers.get(code)) || randomText(),
      ...(own === null && { client_id: application.client_id }),
    });
    const basic = own && btoa(`${own.client_id}:${own.client_secret}`);
    const headers = basic === null ? {} : { authorization: `Basic ${basic}` };
    const response = await fetch(server.token, { method: 'POST', headers, body });
    return (await bodyUnlessRefused(response))?.access_token ?? null;
  }

  async function accepts(access_token: string) {
    const headers = { authorization: `Bearer ${access_token}` };
    return (await bodyUnlessRefused(await fetch(server.userinfo, { headers }))) !== null;
  }

  return { issue, issueWithoutChallenge, redeem, accepts };
}
