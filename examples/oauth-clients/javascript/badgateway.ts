import { randomBytes } from 'node:crypto';
import { generateCodeVerifier, OAuth2Client } from '@badgateway/oauth2-client';
import {
  checkIssuer,
  clientId,
  clientSecret,
  latchkeyUrl,
  redirectUri,
  scope,
  serve,
} from './application.ts';

const client = new OAuth2Client({
  discoveryEndpoint: `${latchkeyUrl}/.well-known/oauth-authorization-server`,
  clientId,
  clientSecret,
});
const token = (accessToken: string) => ({ accessToken, expiresAt: null, refreshToken: null });

serve({
  async connect() {
    const state = randomBytes(32).toString('base64url');
    const codeVerifier = await generateCodeVerifier();
    const request = { redirectUri, scope: [scope], state, codeVerifier };
    const url = await client.authorizationCode.getAuthorizeUri(request);
    return { url, state, codeVerifier };
  },
  async callback(url, expected) {
    checkIssuer(url);
    const checks = { redirectUri, ...expected };
    return (await client.authorizationCode.getTokenFromCodeRedirect(url, checks)).accessToken;
  },
  introspect: (accessToken) => client.introspect(token(accessToken)),
  revoke: (accessToken) => client.revoke(token(accessToken)),
});
