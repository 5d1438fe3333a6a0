/**
 * The part of the flow that is not Latchkey's: a page of your own account service. It asks the user
 * for consent and issues a code if the user agrees. There is one user, who is signed in.
 *
 * `start.ts` runs it.
 */

import { randomBytes } from 'node:crypto';
import express, { type Express, urlencoded } from 'express';
import session from 'express-session';
import { html, page } from './page.ts';

declare module 'express-session' {
  interface SessionData {
    /** What the user is asked to allow. */
    request: { scope: string; state: string };
  }
}

export interface IdentityOptions {
  latchkeyUrl: string;
  /** The credential for Latchkey's `/admin`. Only your own services may have it. */
  adminSecret: string;
  /** The application that may ask, and the only URL to which it gets the result. */
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
    const body = (await response.json()) as { code: string; error_description?: string };
    if (!response.ok) throw new Error(body.error_description);
    return body.code;
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
    // Codes are sent only to the registered URL. For any other one, the browser is not redirected.
    if (application_id !== application.id || redirect_uri !== application.redirectUri) {
      return response.status(400).send(page('Sign in', '<p>This application is not known.</p>'));
    }
    request.session.request = { scope: String(scope), state: String(state) };
    const question = html`<p>${application.name} asks for: ${scope}</p>`;
    const form = `<form method="post"><button name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Deny</button></form>`;
    // No other site may show this page in a frame and trick the user into a click.
    response.set('Content-Security-Policy', "frame-ancestors 'none'");
    response.send(page('Sign in', question + form));
  });

  app.post('/authorize', urlencoded(), async (request, response) => {
    const asked = request.session.request;
    delete request.session.request;
    if (asked === undefined)
      return response.status(400).send(page('Sign in', '<p>Start again.</p>'));

    const target = new URL(application.redirectUri);
    if (request.body.decision === 'allow') {
      target.searchParams.set('code', await issueCode(asked.scope));
    } else {
      target.searchParams.set('error', 'access_denied');
    }
    target.searchParams.set('state', asked.state);
    response.redirect(303, target.href);
  });

  return app;
}
