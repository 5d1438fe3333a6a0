/**
 * An application with Hono and a "connect your account" button, for Bun, Deno, workers, and Node with
 * `@hono/node-server`.
 *
 * LATCHKEY_URL is the URL of Latchkey, and LATCHKEY_APPLICATION_SECRET the secret of this application,
 * which is registered with the redirect URI http://127.0.0.1:4000/callback. PORT is another port.
 */

import { AuthenticationError, Latchkey } from '@latchkey/client';
import { honoLinking } from '@latchkey/client/linking';
import { type Context, Hono } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { html, page } from '../express/page.ts';

type Env = {
  Variables: {
    /** The id of the user who is signed in to this application. */
    user: string;
  };
};

const latchkey = new Latchkey();
// In your application, use a table of your database with a row per user, and encrypt the secrets.
const links = new Map<string, { grant_id: string; grant_secret: string }>();

const app = new Hono<Env>();
// In your application, users sign in. Here, each browser is a user.
app.use(async (context, next) => {
  const known = getCookie(context, 'acme');
  context.set('user', known ?? crypto.randomUUID());
  // With Lax, no other site can submit the form of this one on behalf of the user.
  if (!known) {
    setCookie(context, 'acme', context.get('user'), { httpOnly: true, sameSite: 'Lax' });
  }
  await next();
});

const { connect, callback } = honoLinking<Context<Env>>({
  latchkey,
  redirectUri: `http://127.0.0.1:${process.env.PORT ?? 4000}/callback`,
  scope: 'profile.read',
  userOf: (context) => context.get('user'),
  async onLinked({ grant_id, grant_secret }, context) {
    const user = context.get('user');
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

app.get('/', async (context) => {
  const user = context.get('user');
  const link = links.get(user);
  const notice = notices[context.req.query('notice') ?? ''] ?? 'Welcome.';
  if (!link) return context.html(page('Acme', html`<p>${notice}</p>` + connectLink));
  try {
    const { display_name } = await latchkey.account(link.grant_secret);
    const disconnect =
      '<form method="post" action="/disconnect"><button>Disconnect</button></form>';
    return context.html(page('Acme', html`<p>Connected as ${display_name}</p>` + disconnect));
  } catch (error) {
    // The grant was revoked at the service.
    if (!(error instanceof AuthenticationError)) throw error;
    links.delete(user);
    return context.html(page('Acme', `<p>Your account is no longer connected.</p>${connectLink}`));
  }
});

app.post('/disconnect', async (context) => {
  const link = links.get(context.get('user'));
  if (link) await latchkey.revoke(link.grant_id);
  links.delete(context.get('user'));
  return context.redirect('/', 303);
});

export default app;
