import * as oauth from 'oauth4webapi';
import { clientId, clientSecret, latchkeyUrl, redirectUri, scope, serve } from './application.ts';

const issuer = new URL(latchkeyUrl);
// If Latchkey has https, leave the options out.
const options = { [oauth.allowInsecureRequests]: true };
const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
const server = await oauth.processDiscoveryResponse(issuer, discovered);
const client = { client_id: clientId };
const authentication = oauth.ClientSecretBasic(clientSecret);

serve({
  async connect() {
    const codeVerifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(server.authorization_endpoint ?? '');
    url.search = `${new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    })}`;
    return { url, state, codeVerifier };
  },
  async callback(url, { state, codeVerifier }) {
    const checked = oauth.validateAuthResponse(server, client, url, state);
    const request = [server, client, authentication, checked, redirectUri, codeVerifier] as const;
    const response = await oauth.authorizationCodeGrantRequest(...request, options);
    return (await oauth.processAuthorizationCodeResponse(server, client, response)).access_token;
  },
  account(accessToken) {
    const url = new URL(`${latchkeyUrl}/v1/account`);
    return oauth.protectedResourceRequest(accessToken, 'GET', url, undefined, null, options);
  },
  async introspect(accessToken) {
    const request = [server, client, authentication, accessToken] as const;
    const response = await oauth.introspectionRequest(...request, options);
    return oauth.processIntrospectionResponse(server, client, response);
  },
  async revoke(accessToken) {
    const request = [server, client, authentication, accessToken] as const;
    await oauth.processRevocationResponse(await oauth.revocationRequest(...request, options));
  },
});
