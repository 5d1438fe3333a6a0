/**
 * An application that links accounts with @fastify/oauth2.
 *
 * Reads LATCHKEY_URL, CLIENT_ID and CLIENT_SECRET from the environment, and the port from PORT, by
 * default a free one. Register `http://127.0.0.1/callback` at Latchkey: it matches on any port.
 */
import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import oauth2, { type OAuth2Namespace, type Token } from '@fastify/oauth2';
import { fastify } from 'fastify';

declare module 'fastify' {
  interface FastifyInstance {
    latchkey: OAuth2Namespace;
  }
}

const { LATCHKEY_URL = 'http://127.0.0.1:3000', PORT = '0' } = process.env;
const { CLIENT_ID: id = '', CLIENT_SECRET: secret = '' } = process.env;

const app = fastify();
// By user. Keep them in your database. Here, each link makes a user.
const tokens = new Map<string, Token>();

app.register(oauth2, {
  name: 'latchkey',
  credentials: { client: { id, secret } },
  // The whole address: of an issuer alone, it reads the metadata of OpenID Connect.
  discovery: { issuer: `${LATCHKEY_URL}/.well-known/oauth-authorization-server` },
  scope: ['profile.read'],
  startRedirectPath: '/connect',
  callbackUri: ({ protocol, host }) => `${protocol}://${host}/callback`,
});

app.get<{ Querystring: Record<string, string> }>('/callback', async (request, reply) => {
  const { iss, code, error_description: reason } = request.query;
  // The library compares the state. It does not compare the issuer, and redeems a missing code.
  if (iss !== LATCHKEY_URL || code === undefined) {
    return reply.code(400).send(`Not linked: ${reason}`);
  }
  const { token } = await app.latchkey.getAccessTokenFromAuthorizationCodeFlow(request, reply);
  const user = randomUUID();
  tokens.set(user, token);
  // If the application has https, add `secure: true`.
  reply.setCookie('user', user, { path: '/', httpOnly: true, sameSite: 'lax' });
  return reply.redirect('/account');
});

// Its response says only that something failed. The error has what Latchkey says.
app.addHook('onError', async (_request, _reply, error) => {
  process.stderr.write(`${inspect(error, { depth: 5 })}\n`);
});

app.get('/account', async ({ cookies }, reply) => {
  const headers = { Authorization: `Bearer ${tokens.get(cookies.user ?? '')?.access_token}` };
  const response = await fetch(`${LATCHKEY_URL}/v1/account`, { headers });
  return reply.code(response.status).send(await response.json());
});

// The form of a button has no fields.
app.addContentTypeParser('application/x-www-form-urlencoded', (_request, _body, done) => {
  done(null);
});
app.post('/revoke', async ({ cookies }) => {
  const token = tokens.get(cookies.user ?? '');
  if (token) await app.latchkey.revokeToken(token, 'access_token', undefined);
  return {};
});

process.stdout.write(`Open ${await app.listen({ port: Number(PORT) })}/connect\n`);
