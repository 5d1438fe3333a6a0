import { randomBytes } from 'node:crypto';
import {
  auth,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
} from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { checkCallback, clientId, latchkeyUrl, redirectUri, scope, serve } from './application.ts';

const serverUrl = `${latchkeyUrl}/v1`;

/** One link. It has no secret: register a public application. */
class Link implements OAuthClientProvider {
  readonly redirectUrl = redirectUri;
  readonly clientMetadata = { redirect_uris: [redirectUri] };
  readonly random = randomBytes(32).toString('base64url');
  url = '';
  verifier: string;
  accessToken = '';

  constructor(verifier = '') {
    this.verifier = verifier;
  }
  clientInformation = () => ({ client_id: clientId });
  state = () => this.random;
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier: string) => {
    this.verifier = verifier;
  };
  redirectToAuthorization = (url: URL) => {
    this.url = url.href;
  };
  tokens = () => undefined;
  saveTokens = ({ access_token }: OAuthTokens) => {
    this.accessToken = access_token;
  };
}

serve({
  async connect() {
    const link = new Link();
    // The 401 says where the metadata is.
    const refused = await fetch(`${serverUrl}/account`);
    // Without a scope, the SDK would ask for every one in the metadata.
    await auth(link, { serverUrl, ...extractWWWAuthenticateParams(refused), scope });
    return { url: link.url, state: link.random, codeVerifier: link.verifier };
  },
  async callback(url, expected) {
    const link = new Link(expected.codeVerifier);
    await auth(link, { serverUrl, authorizationCode: checkCallback(url, expected) });
    return link.accessToken;
  },
});
