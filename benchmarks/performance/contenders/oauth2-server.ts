import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import OAuth2Server from '@node-oauth/oauth2-server';
import { pkce, REDIRECT_URI, type Registration, registration } from '../../peers/oauth-client.ts';
import type { Contender } from '../contender.ts';
import { runProgram, startProgram } from '../program.ts';
import { codeWithVerifier, oauthWire } from '../wires/oauth.ts';

const SCOPE = ['profile.read'];
const CODE_LIFETIME = 300_000;

/** `@node-oauth/oauth2-server` on bare `node:http`, its model over Maps. */
export const oauth2Server: Contender = {
  name: '@node-oauth/oauth2-server, in memory',
  share: 0.5,
  start: (options) =>
    startProgram(import.meta.filename, options, (application: Registration) =>
      oauthWire(application, { token: '/token' }),
    ),
};

/** The model from its documentation, over Maps. */
function createModel(application: Registration) {
  const client: OAuth2Server.Client = {
    id: application.client_id,
    redirectUris: [REDIRECT_URI],
    grants: ['authorization_code'],
  };
  const codes = new Map<string, OAuth2Server.AuthorizationCode>();
  const tokens = new Map<string, OAuth2Server.Token>();
  const model: OAuth2Server.AuthorizationCodeModel = {
    async getClient(id, secret) {
      const isOurs = id === client.id && (secret === null || secret === application.client_secret);
      return isOurs ? client : false;
    },
    async getAuthorizationCode(code) {
      return codes.get(code) ?? false;
    },
    async revokeAuthorizationCode({ authorizationCode }) {
      return codes.delete(authorizationCode);
    },
    async saveAuthorizationCode(code, client, user) {
      const saved = { ...code, client, user };
      codes.set(code.authorizationCode, saved);
      return saved;
    },
    async saveToken(token, client, user) {
      const saved = { ...token, client, user };
      tokens.set(token.accessToken, saved);
      return saved;
    },
    async getAccessToken(token) {
      return tokens.get(token) ?? false;
    },
  };
  return { model, client };
}

async function readForm(request: IncomingMessage): Promise<Record<string, string>> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return Object.fromEntries(new URLSearchParams(text));
}

if (import.meta.main) {
  await runProgram(async () => {
    const application = registration('application');
    const { model, client } = createModel(application);
    const server = new OAuth2Server({ model });

    async function issueOne(): Promise<string> {
      const authorizationCode = randomBytes(32).toString('hex');
      const { verifier, challenge } = pkce();
      await model.saveAuthorizationCode(
        {
          authorizationCode,
          expiresAt: new Date(Date.now() + CODE_LIFETIME),
          redirectUri: REDIRECT_URI,
          scope: SCOPE,
          codeChallenge: challenge.code_challenge,
          codeChallengeMethod: challenge.code_challenge_method,
        },
        client,
        { id: 'ada' },
      );
      return codeWithVerifier(authorizationCode, verifier);
    }

    return {
      async listener(incoming, outgoing) {
        const request = new OAuth2Server.Request({
          method: incoming.method ?? '',
          query: {},
          headers: incoming.headers as Record<string, string>,
          body: await readForm(incoming),
        });
        const response = new OAuth2Server.Response();
        // It also writes the error into the response.
        await server.token(request, response).catch(() => {});
        const text = JSON.stringify(response.body);
        outgoing.writeHead(response.status ?? 500, {
          ...response.headers,
          'Content-Type': 'application/json; charset=UTF-8',
          'Content-Length': Buffer.byteLength(text),
        });
        outgoing.end(text);
      },
      issue: (count) => Promise.all(Array.from({ length: count }, issueOne)),
      about: application,
    };
  });
}
