/**
 * An application with Fastify and a "connect your account" button.
 *
 *     npm exec -c 'node examples/linking/fastify.ts'
 *
 * LATCHKEY_URL is the URL of Latchkey, and LATCHKEY_APPLICATION_SECRET the secret of this application,
 * which is registered with the redirect URI http://127.0.0.1:4000/callback. PORT is another port.
 */

import { randomUUID } from 'node:crypto';
import { AuthenticationError, Latchkey } from '@latchkey/client';
import { fastifyLinking } from '@latchkey/client/linking';
import { type FastifyRequest, fastify } from 'fastify';
import { html, page } from '../express/page.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The id of the user who is signed in to this application. */
    user: string;
  }
}

const port = Number(process.env.PORT ?? 4000);
const latchkey = new Latchkey();
// In your application, use a table of your database with a row per user, and encrypt the secrets.
const links = new Map<string, { grant_id: string; grant_secret: string }>();

const app = fastify();
// In your application, users sign in. Here, each browser is a user.
app.decorateRequest('user', '');
app.addHook('onRequest', async (request, reply) => {
  const [, known] = /(?:^|; )acme=([\w-]{36})/.exec(request.headers.cookie ?? '') ?? [];
  request.user = known ?? randomUUID();
  if (known) return;
  // With Lax, no other site can submit the form of this one on behalf of the user.
  reply.header('Set-Cookie', `acme=${request.user}; Path=/; HttpOnly; SameSite=Lax`);
});
// Its forms have no fields.
app.addContentTypeParser('application/x-www-form-urlencoded', (_request, _body, done) => {
  done(null);
});

const { connect, callback } = fastifyLinking<FastifyRequest>({
  latchkey,
  redirectUri: `http://127.0.0.1:${port}/callback`,
  scope: 'profile.read',
  userOf: ({ user }) => user,
  async onLinked({ grant_id, grant_secret }, { user }) {
    const before = links.get(user);
    links.set(user, { grant_id, grant_secret });
    if (before && before.grant_id !== grant_id) await latchkey.revoke(before.grant_id);
  },
  onFailed: ({ name }) => (name === 'LinkDeniedError' ? '/?notice=denied' : '/?notice=failed'),
});
app.get('/connect', connect);
app.get('/callback', callback);

const notices: Record<string, string> = {
  denied: 'You have not allowed it.',
  failed: 'That did not work. Connect again.',
};
const connectLink = '<p><a href="/connect">Connect your account</a></p>';

app.get<{ Querystring: { notice?: string } }>('/', async ({ user, query }, reply) => {
  reply.type('text/html; charset=utf-8');
  const link = links.get(user);
  const notice = notices[query.notice ?? ''] ?? 'Welcome.';
  if (!link) return page('Acme', html`<p>${notice}</p>` + connectLink);
  try {
    const { display_name } = await latchkey.account(link.grant_secret);
    const disconnect =
      '<form method="post" action="/disconnect"><button>Disconnect</button></form>';
    return page('Acme', html`<p>Connected as ${display_name}</p>` + disconnect);
  } catch (error) {
    // The grant was revoked at the service.
    if (!(error instanceof AuthenticationError)) throw error;
    links.delete(user);
    return page('Acme', `<p>Your account is no longer connected.</p>${connectLink}`);
  }
});

app.post('/disconnect', async ({ user }, reply) => {
  const link = links.get(user);
  if (link) await latchkey.revoke(link.grant_id);
  links.delete(user);
  return reply.redirect('/', 303);
});

await app.listen({ port, host: '127.0.0.1' });
