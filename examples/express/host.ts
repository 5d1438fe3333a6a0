/**
 * The service that has the accounts: its sign-in page, where Latchkey sends the browsers that link an
 * account, and a page that leads to the connected applications. Your service signs its users in as it
 * always does. This one has two users and asks them for no password.
 *
 * `start.ts` runs it.
 */

import { randomBytes } from 'node:crypto';
import { InvalidRequestError } from '@latchkey/client';
import type { LatchkeyAdmin } from '@latchkey/client/admin';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Response,
  urlencoded,
} from 'express';
import session from 'express-session';
import { html, page } from './page.ts';

declare module 'express-session' {
  interface SessionData {
    /** The account of the user who is signed in to this service. */
    accountId: string;
  }
}

export interface HostOptions {
  admin: LatchkeyAdmin;
  /** The URL of this service for browsers, without a trailing slash. */
  url: string;
  /** The users: the names of their accounts, by id. */
  users: ReadonlyMap<string, string>;
}

export function createHost({ admin, url, users }: HostOptions): Express {
  const app = express();
  app.use(
    session({
      name: 'host',
      secret: randomBytes(32).toString('hex'),
      resave: false,
      saveUninitialized: false,
      cookie: { httpOnly: true, sameSite: 'lax' },
    }),
  );

  /** Tells Latchkey who signed in. It asks the user for consent, so this is safe on a GET. */
  async function goOn(response: Response, link: string, account_id: string) {
    const { redirect_to } = await admin.links.identify({ link, account_id });
    response.redirect(303, redirect_to);
  }

  // SIGN_IN_URL of Latchkey.
  app.get('/sign-in', async (request, response) => {
    const { link = '', prompt } = request.query;
    const { accountId } = request.session;
    const wantsAnother = prompt === 'select_account';
    if (accountId && link && !wantsAnother) return goOn(response, String(link), accountId);
    const buttons = [...users].map(
      ([id, name]) => html`<button name="account" value="${id}">${name}</button>`,
    );
    const form = html`<form method="post"><input type="hidden" name="link" value="${link}">`;
    response.send(page('Sign in', `<h1>Sign in</h1>${form}${buttons.join(' ')}</form>`));
  });

  app.post('/sign-in', urlencoded(), async (request, response) => {
    const { link, account } = request.body;
    if (!users.has(account)) return response.redirect(303, '/sign-in');
    request.session.accountId = account;
    if (link) return goOn(response, String(link), account);
    response.redirect(303, '/');
  });

  app.get('/', (request, response) => {
    const name = users.get(request.session.accountId ?? '');
    if (name === undefined) return response.redirect(303, '/sign-in');
    const connected = '<p><a href="/connected">Connected applications</a></p>';
    response.send(page('Your account', html`<p>Signed in as ${name}</p>` + connected));
  });

  // Latchkey has the page. Its address opens once, so it is made when the user wants to go there.
  app.get('/connected', async (request, response) => {
    const { accountId: account_id } = request.session;
    if (account_id === undefined) return response.redirect(303, '/sign-in');
    const { url: target } = await admin.pages.create({
      page: 'connections',
      account_id,
      return_url: `${url}/`,
    });
    response.redirect(303, target);
  });

  const failed: ErrorRequestHandler = (error, _request, response, _next) => {
    if (error instanceof InvalidRequestError) {
      // The user took longer than an hour. The application can start again.
      if (error.redirect_to) return response.redirect(303, error.redirect_to);
      const again = '<p>This link does not work any more. Start again in the application.</p>';
      return void response.status(400).send(page('Sign in', again));
    }
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    response.status(503).send(page('Sign in', '<p>Try again in a minute.</p>'));
  };
  return app.use(failed);
}
