/**
 * An application with a "connect your account" button. `expressLinking` sends the user to the service
 * and receives the grant; the application stores it, uses it, and revokes it.
 *
 * `start.ts` runs it.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import { ApplicationDisabledError, AuthenticationError, type Latchkey } from '@latchkey/client';
import { expressLinking } from '@latchkey/client/linking';
import express, { type ErrorRequestHandler, type Express, type Request } from 'express';
import session from 'express-session';
import { html, page } from './page.ts';

declare module 'express-session' {
  interface SessionData {
    /** The id of the user who is signed in to this application. */
    user: string;
    /** A message for the next page. */
    notice: string;
  }
}

export interface AppOptions {
  latchkey: Latchkey;
  /** The URL of `/callback` in this application, as registered at the service. */
  redirectUri: string;
}

const connectLink = '<p><a href="/connect">Connect your account</a></p>';

export function createApp({ latchkey, redirectUri }: AppOptions): Express {
  // In your application, use a table of your database with a row per user, and encrypt the secrets.
  const links = new Map<string, { grant_id: string; grant_secret: string; scope: string }>();

  const app = express();
  app.use(
    session({
      name: 'acme',
      secret: randomBytes(32).toString('hex'),
      resave: false,
      saveUninitialized: false,
      // With Lax, no other site can submit the forms of this one on behalf of the user.
      cookie: { httpOnly: true, sameSite: 'lax' },
    }),
  );
  // In your application, users sign in. Here, each browser is a user.
  app.use((request, _response, next) => {
    request.session.user ??= randomUUID();
    next();
  });
  const userOf = (request: Request) => request.session.user as string;

  const { connect, callback } = expressLinking<Request>({
    latchkey,
    redirectUri,
    scope: 'profile.read',
    // Acme works without it, so each user decides.
    optionalScope: 'posts.read',
    userOf,
    async onLinked({ grant_id, grant_secret, scope }, request) {
      const before = links.get(userOf(request));
      links.set(userOf(request), { grant_id, grant_secret, scope });
      if (before && before.grant_id !== grant_id) await latchkey.revoke(before.grant_id);
    },
    onFailed(error, request) {
      // The message says what to do and contains no credential.
      process.stderr.write(`${error.message}\n`);
      request.session.notice =
        error.name === 'LinkDeniedError'
          ? 'You have not allowed it.'
          : 'That did not work. Connect again.';
    },
  });
  app.get('/connect', connect);
  app.get('/callback', callback);

  app.get('/', async (request, response) => {
    const { notice } = request.session;
    delete request.session.notice;
    const link = links.get(userOf(request));
    if (link === undefined) {
      return response.send(page('Acme', html`<p>${notice ?? 'Welcome.'}</p>` + connectLink));
    }
    try {
      const { display_name } = await latchkey.account(link.grant_secret);
      const disconnect =
        '<form method="post" action="/disconnect"><button>Disconnect</button></form>';
      const posts = link.scope.split(' ').includes('posts.read') ? ', with your posts' : '';
      response.send(page('Acme', html`<p>Connected as ${display_name}${posts}</p>` + disconnect));
    } catch (error) {
      // The operator disabled this application for now. The grant works again later, so it stays.
      if (error instanceof ApplicationDisabledError) {
        const paused = '<p>Your account is connected, but the connection is paused.</p>';
        return response.status(503).send(page('Acme', paused));
      }
      // The grant was revoked at the service.
      if (!(error instanceof AuthenticationError)) throw error;
      links.delete(userOf(request));
      const ended = '<p>Your account is no longer connected.</p>';
      response.send(page('Acme', ended + connectLink));
    }
  });

  app.post('/disconnect', async (request, response) => {
    const link = links.get(userOf(request));
    if (link) await latchkey.revoke(link.grant_id);
    links.delete(userOf(request));
    response.redirect(303, '/');
  });

  const failed: ErrorRequestHandler = (error, _request, response, _next) => {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    response.status(503).send(page('Acme', '<p>Something went wrong. Try again in a minute.</p>'));
  };
  return app.use(failed);
}
