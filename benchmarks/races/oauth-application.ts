import { randomBytes } from 'node:crypto';
import { authorizationRequest } from '../peers/authorization-request.ts';
import { REDIRECT_URI, type Registration } from '../peers/registration.ts';
import { accepted, type Contender, type Redeemer } from './contender.ts';

const randomText = () => randomBytes(32).toString('base64url');

/**
 * Two registered applications of an OAuth server, confidential ones, which authenticate with
 * `client_secret_basic` and use PKCE, as OAuth 2.1 asks of all.
 *
 * @param server.authorize - goes through the authorization endpoint as a new user's browser does;
 *   returns the URI it is sent back to in the end
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

  async function redeem(code: string, by: Redeemer) {
    const own = credentials[by];
    // Only the application itself knows the verifier; it never went through the browser.
    const isApplication = by === 'application' || by === 'wrong secret';
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: (isApplication && verifiers.get(code)) || randomText(),
      ...(own === null && { client_id: application.client_id }),
    });
    const basic = own && btoa(`${own.client_id}:${own.client_secret}`);
    const headers = basic === null ? {} : { authorization: `Basic ${basic}` };
    const answer = await accepted(await fetch(server.token, { method: 'POST', headers, body }));
    return answer?.access_token ?? null;
  }

  async function admits(access_token: string) {
    const headers = { authorization: `Bearer ${access_token}` };
    return (await accepted(await fetch(server.userinfo, { headers }))) !== null;
  }

  return { issue, redeem, admits };
}
