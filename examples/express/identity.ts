/**
 * The service's side of the flow, which is not Latchkey's: the page of your own account service that
 * asks the user, and has a code issued where the user allows it. There is one user, who is signed in.
 *
 * `start.ts` runs it.
 */

import { randomBytes } from 'node:crypto';
import express, { type Express, urlencoded } from 'express';
import session from 'express-session';
import { html, page } from './page.ts';

declare module 'express-session' {
  interface SessionData {
    /** What the user is being asked. */
    request: { scope: string; state: string };
  }
}

export interface IdentityOptions {
  latchkeyUrl: string;
  /** What opens Latchkey's `/admin`. Only your own services may have it. */
  adminSecret: string;
  /** The application that may ask, and the one address that it gets its answers on. */
  application: { id: string; name: string; redirectUri: string };
  /** The account of the user who is signed in. */
  accountId: string;
}

export function createIdentity(options: IdentityOptions): Express {
  const { latchkeyUrl, adminSecret, application, accountId } = options;

  async function issueCode(scope: string): Promise<string> {
    const response = await fetch(`${latchkeyUrl}/admin/codes`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${adminSecret}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ application_id: application.id, account_id: accountId, scope }),
    });
    const answer = (await response.json()) as { code: string; error_description?: string };
    if (!response.ok) throw new Error(answer.error_description);
    return answer.code;
  }

  const app = express();
  app.use(
    session({
      name: 'identity',
      secret: randomBytes(32).toString('hex'),
      resave: false,
      saveUninitialized: false,
      cookie: { httpOnly: true, sameSite: 'lax' },
    }),
  );

  app.get('/authorize', (request, response) => {
    const { application_id, redirect_uri, scope, state } = request.query;
    // A code goes to no other address than the one that is known: the browser is not sent back.
    if (application_id !== application.id || redirect_uri !== application.redirectUri) {
      return response.status(400).send(page('Sign in', '<p>This application is not known.</p>'));
    }
    request.session.request = { scope: String(scope), state: String(state) };
    const question = html`<p>${application.name} asks for: ${scope}</p>`;
    const form = `<form method="post"><button name="answer" value="allow">Allow</button>
<button name="answer" value="deny">Deny</button></form>`;
    // Nobody may show this page in a frame and have the user click unawares.
    response.set('Content-Security-Policy', "frame-ancestors 'none'");
    response.send(page('Sign in', question + form));
  });

  app.post('/authorize', urlencoded(), async (request, response) => {
    const asked = request.session.request;
    delete request.session.request;
    if (asked === undefined)
      return response.status(400).send(page('Sign in', '<p>Start again.</p>'));

    const target = new URL(application.redirectUri);
    if (request.body.answer === 'allow') {
      target.searchParams.set('code', await issueCode(asked.scope));
    } else {
      target.searchParams.set('error', 'access_denied');
    }
    target.searchParams.set('state', asked.state);
    response.redirect(303, target.href);
  });

  return app;
}
