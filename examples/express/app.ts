/**
 * An application with a "connect your account" button. It sends the user to the service with a
 * `state`, converts the code that comes back, stores the grant, uses it, and revokes it.
 *
 * `start.ts` runs it.
 */

import { randomBytes } from 'node:crypto';
import {
  ApplicationDisabledError,
  AuthenticationError,
  CodeAlreadyUsedError,
  CodeExpiredError,
  CodeNotFoundError,
  type Latchkey,
} from '@latchkey/client';
import express, { type ErrorRequestHandler, type Express } from 'express';
import session from 'express-session';
import { html, page } from './page.ts';

declare module 'express-session' {
  interface SessionData {
    /** Sent to the service with the user. The code must come back with the same value. */
    state: string;
  }
}

export interface AppOptions {
  latchkey: Latchkey;
  applicationId: string;
  /** The page of the service that asks the user for consent. */
  authorizeUrl: string;
  /** The URL of `/callback` in this application, as registered at the service. */
  callbackUrl: string;
}

const connect =
  '<form method="post" action="/connect"><button>Connect your account</button></form>';
const again = (why: string) => page('Acme', html`<p>${why}</p>` + connect);

export function createApp(options: AppOptions): Express {
  const { latchkey, applicationId, authorizeUrl, callbackUrl } = options;
  // In your application, use a table of your database with a row per user, and encrypt the secrets.
  // Here, a session stands for a user.
  const links = new Map<string, { grant_id: string; grant_secret: string }>();

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

  app.get('/', async (request, response) => {
    const link = links.get(request.sessionID);
    if (link === undefined) return response.send(page('Acme', connect));
    try {
      const { display_name } = await latchkey.account(link.grant_secret);
      const disconnect =
        '<form method="post" action="/disconnect"><button>Disconnect</button></form>';
      response.send(page('Acme', html`<p>Connected as ${display_name}</p>` + disconnect));
    } catch (error) {
      // The operator disabled this application for now. The grant works again later, so it stays.
      if (error instanceof ApplicationDisabledError) {
        const paused = '<p>Your account is connected, but the connection is paused.</p>';
        return response.status(503).send(page('Acme', paused));
      }
      // Ended from the service's side.
      if (!(error instanceof AuthenticationError)) throw error;
      links.delete(request.sessionID);
      response.send(again('Your account is no longer connected.'));
    }
  });

  app.post('/connect', (request, response) => {
    const state = randomBytes(32).toString('base64url');
    request.session.state = state;
    const target = new URL(authorizeUrl);
    target.search = new URLSearchParams({
      application_id: applicationId,
      redirect_uri: callbackUrl,
      scope: 'profile.read',
      state,
    }).toString();
    response.redirect(303, target.href);
  });

  app.get('/callback', async (request, response) => {
    const { code, state } = request.query;
    const expected = request.session.state;
    delete request.session.state;
    // Without this check, an attacker could make the user's browser send a code for another account.
    if (expected === undefined || state !== expected) {
      return response.status(400).send(again('This link was not for you, or was used before.'));
    }
    if (typeof code !== 'string') return response.send(again('You have not allowed it.'));

    const { grant_id, grant_secret } = await latchkey.convert(code);
    const before = links.get(request.sessionID);
    links.set(request.sessionID, { grant_id, grant_secret });
    if (before) await latchkey.revoke(before.grant_id);
    response.redirect(303, '/');
  });

  app.post('/disconnect', async (request, response) => {
    const link = links.get(request.sessionID);
    if (link) await latchkey.revoke(link.grant_id);
    links.delete(request.sessionID);
    response.redirect(303, '/');
  });

  const failed: ErrorRequestHandler = (error, _request, response, _next) => {
    const startAgain = [CodeExpiredError, CodeNotFoundError, CodeAlreadyUsedError];
    if (startAgain.some((errorClass) => error instanceof errorClass)) {
      return void response.status(400).send(again('That took too long. Connect again.'));
    }
    // The message says what to do and contains no credential.
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    response.status(503).send(page('Acme', '<p>Something went wrong. Try again in a minute.</p>'));
  };
  return app.use(failed);
}
