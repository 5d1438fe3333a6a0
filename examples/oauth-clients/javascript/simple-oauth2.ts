import { createHash, randomBytes } from 'node:crypto';
import { AuthorizationCode } from 'simple-oauth2';
import {
  checkCallback,
  clientId,
  clientSecret,
  latchkeyUrl,
  redirectUri,
  scope,
  serve,
} from './application.ts';

const client = new AuthorizationCode({
  client: { id: clientId, secret: clientSecret },
  auth: {
    tokenHost: latchkeyUrl,
    // If Latchkey's URL has no path, these are the defaults.
    authorizePath: `${latchkeyUrl}/oauth/authorize`,
    tokenPath: `${latchkeyUrl}/oauth/token`,
    revokePath: `${latchkeyUrl}/oauth/revoke`,
  },
});
const random = () => randomBytes(32).toString('base64url');

serve({
  async connect() {
    const [state, codeVerifier] = [random(), random()];
    // The library does not know PKCE, but it passes these on.
    const challenge = {
      code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    const url = client.authorizeURL({ redirect_uri: redirectUri, scope, state, ...challenge });
    return { url, state, codeVerifier };
  },
  async callback(url, expected) {
    const proof = { code_verifier: expected.codeVerifier };
    const code = checkCallback(url, expected);
    const { token } = await client.getToken({ code, redirect_uri: redirectUri, ...proof });
    return `${token.access_token}`;
  },
  revoke: (accessToken) => client.createToken({ access_token: accessToken }).revoke('access_token'),
});
