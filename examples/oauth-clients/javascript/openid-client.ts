import * as client from 'openid-client';
import { clientId, clientSecret, latchkeyUrl, redirectUri, scope, serve } from './application.ts';

const config = await client.discovery(
  new URL(latchkeyUrl),
  clientId,
  {},
  client.ClientSecretBasic(clientSecret),
  // If Latchkey has https, leave out `execute`.
  { algorithm: 'oauth2', execute: [client.allowInsecureRequests] },
);

serve({
  async connect() {
    const codeVerifier = client.randomPKCECodeVerifier();
    const state = client.randomState();
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      state,
      code_challenge: await client.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    });
    return { url, state, codeVerifier };
  },
  async callback(url, { state, codeVerifier }) {
    const checks = { expectedState: state, pkceCodeVerifier: codeVerifier };
    return (await client.authorizationCodeGrant(config, url, checks)).access_token;
  },
  account: (accessToken) =>
    client.fetchProtectedResource(config, accessToken, new URL(`${latchkeyUrl}/v1/account`), 'GET'),
  introspect: (accessToken) => client.tokenIntrospection(config, accessToken),
  revoke: (accessToken) => client.tokenRevocation(config, accessToken),
});
