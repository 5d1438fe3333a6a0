/**
 * The service that has the accounts. `expressHost` says who is signed in, and leads to the connected
 * applications; the service signs its users in as it always does. This one has two users and asks them
 * for no password.
 *
 * `start.ts` runs it. docs/guides/hosts.md explains its two functions, and `addConsent` of `consent.ts`,
 * for a consent page of its own.
 */

import { randomBytes } from 'node:crypto';
import type { AccountInput, LatchkeyAdmin } from '@latchkey/client/admin';
import { expressHost } from '@latchkey/client/host';
import express, { type ErrorRequestHandler, type Express, type Request, urlencoded } from 'express';
import session from 'express-session';
import { html, page } from './page.ts';

declare module 'express-session' {
  interface SessionData {
    /** Who is signed in, with `account_id` and `username`. */
    account: AccountInput;
  }
}

export function addToExpress(app: Express, admin: LatchkeyAdmin, url: string) {
  const { handOff, decide, connections, signOut } = expressHost<Request>({
    admin,
    signInUrl: `${url}/link`, // exactly the value of SIGN_IN_URL
    accountOf: ({ session }) => session.account,
    signInPage: (next) => `/sign-in?next=${encodeURIComponent(next)}`,
  });
  app.get('/link', handOff);
  app.post('/give-up', urlencoded(), decide);
  app.post('/connected-applications', connections);
  app.post('/sign-out', signOut, (request, response, next) => {
    request.session.destroy((error) => (error ? next(error) : response.redirect(303, '/')));
  });
}

type CheckPassword = (form: Record<string, unknown>) => Promise<AccountInput | null>;

export function addSignIn(app: Express, url: string, checkPassword: CheckPassword) {
  app.post('/sign-in', urlencoded(), async (request, response, next) => {
    if (request.get('Sec-Fetch-Site') !== 'same-origin') return void response.sendStatus(403);
    const account = await checkPassword(request.body);
    if (account === null) return void response.sendStatus(401);
    const goOn = new URL(String(request.body.next ?? '/'), url);
    request.session.regenerate((error) => {
      if (error) return next(error);
      request.session.account = account;
      response.redirect(303, goOn.origin === new URL(url).origin ? goOn.href : '/');
    });
  });
}

export interface HostOptions {
  admin: LatchkeyAdmin;
  /** The URL of this service for browsers, without a trailing slash. */
  url: string;
  users: AccountInput[];
}

export function createHost({ admin, url, users }: HostOptions): Express {
  const app = express();
  app.use(
    session({
      name: 'host',
      secret: randomBytes(32).toString('hex'),
      resave: false,
      saveUninitialized: false,
      // Over https, add `secure: true`, and let the name begin with `__Host-`.
      cookie: { httpOnly: true, sameSite: 'lax' },
    }),
  );
  addToExpress(app, admin, url);
  addSignIn(app, url, async (form) => users.find(({ username }) => username === form.user) ?? null);

  app.get('/sign-in', (request, response) => {
    const buttons = users.map(
      ({ username, display_name }) =>
        html`<button name="user" value="${username}">${display_name}</button>`,
    );
    const next = String(request.query.next ?? '/');
    const hidden = html`<input type="hidden" name="next" value="${next}">`;
    const form = `<form method="post">${hidden}${buttons.join(' ')}</form>`;
    const link = new URL(next, url).searchParams.get('link');
    const giveUp = html`<form method="post" action="/give-up"><input type="hidden" name="link" value="${link}">
<button name="decision" value="deny">Cancel</button></form>`;
    response.send(page('Sign in', `<h1>Sign in</h1>${form}${link ? giveUp : ''}`));
  });

  app.get('/', (request, response) => {
    const { account } = request.session;
    if (!account) return response.redirect(303, '/sign-in');
    const button = (action: string, label: string) =>
      html`<form method="post" action="${action}"><button>${label}</button></form>`;
    const buttons =
      button('/connected-applications', 'Connected applications') + button('/sign-out', 'Sign out');
    const who = html`<p>Signed in as ${account.display_name}</p>`;
    response.send(page('Your account', who + buttons));
  });

  const failed: ErrorRequestHandler = (error, _request, response, _next) => {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    response.status(503).send(page('Sign in', '<p>Try again in a minute.</p>'));
  };
  return app.use(failed);
}
