import { CodeChallengeMethod, generateCodeVerifier, generateState, OAuth2Client } from 'arctic';
import {
  checkCallback,
  clientId,
  clientSecret,
  latchkeyUrl,
  redirectUri,
  scope,
  serve,
} from './application.ts';

const client = new OAuth2Client(clientId, clientSecret, redirectUri);

serve({
  async connect() {
    const [state, codeVerifier] = [generateState(), generateCodeVerifier()];
    const url = client.createAuthorizationURLWithPKCE(
      `${latchkeyUrl}/oauth/authorize`,
      state,
      CodeChallengeMethod.S256,
      codeVerifier,
      [scope],
    );
    return { url, state, codeVerifier };
  },
  async callback(url, expected) {
    const code = checkCallback(url, expected);
    const endpoint = `${latchkeyUrl}/oauth/token`;
    const tokens = await client.validateAuthorizationCode(endpoint, code, expected.codeVerifier);
    return tokens.accessToken();
  },
  revoke: (accessToken) => client.revokeToken(`${latchkeyUrl}/oauth/revoke`, accessToken),
});
