import { readBody } from '../http/body.ts';
import { sendRedirect } from '../http/linking/send-redirect.ts';
import { sendJson } from '../http/response.ts';
import type { Route } from '../http/router.ts';
import { addToQuery } from '../linking/redirect.ts';
import { demoAccounts, demoScope } from './demo-records.ts';
import { type DemoTools, demoFrame, demoRoute } from './demo-tools.ts';
import { createHeardEvents } from './heard-events.ts';
import { signedInUser } from './host-routes.ts';
import { createLinkedAccounts } from './linked-accounts.ts';
import { DEMO_APPLICATION_ID, demoPaths } from './linking-demo.ts';
import { createOAuthClient } from './oauth-client.ts';
import {
  challengeOf,
  findPendingLink,
  forgetPendingLink,
  keepPendingLink,
  newPendingLink,
} from './pending-link.ts';
import { applicationPage, type LinkState, type Outcome } from './views/application-page.ts';

const SESSION_SECONDS = 24 * 3600;

export function applicationRoutes(tools: DemoTools): Route[] {
  const { publicUrl, url, demoCookies } = tools;
  const client = createOAuthClient(url, publicUrl);
  const accounts = createLinkedAccounts();
  const heard = createHeardEvents(tools.callContext.service);

  async function linkStateOf(session: string | null): Promise<LinkState> {
    const secret = session === null ? null : accounts.find(session);
    if (secret === null) return { kind: 'none' };
    const grant = await client.readGrant(secret);
    return grant === null ? { kind: 'ended' } : { kind: 'linked', grant };
  }

  return [
    demoRoute(tools, {
      method: 'GET',
      path: demoPaths.application,
      async handle(context, query) {
        const state = await linkStateOf(demoCookies.read(context, 'session'));
        const user = signedInUser(tools, context);
        const page = applicationPage(demoFrame(tools, context), {
          state,
          outcome: query.get('outcome'),
          user: user === null ? null : demoAccounts[user],
          heard: heard.list(),
          publicUrl,
        });
        tools.sender.send(context, page);
      },
    }),
    {
      method: 'POST',
      path: demoPaths.events,
      async handle(context) {
        const body = await readBody(context, ['json']);
        const { headers } = context.request;
        await heard.hear({ headers, bytes: body?.bytes ?? Buffer.alloc(0) });
        sendJson(context, 200, {});
      },
    },
    demoRoute(tools, {
      method: 'GET',
      path: demoPaths.connect,
      handle(context) {
        const pending = newPendingLink();
        const location = addToQuery(`${publicUrl}/oauth/authorize`, {
          response_type: 'code',
          client_id: DEMO_APPLICATION_ID,
          redirect_uri: publicUrl + demoPaths.callback,
          scope: demoScope.scope,
          state: pending.state,
          code_challenge: challengeOf(pending),
          code_challenge_method: 'S256',
        });
        const cookie = keepPendingLink(demoCookies, pending);
        sendRedirect(context, location, { 'Set-Cookie': cookie });
      },
    }),
    demoRoute(tools, {
      method: 'GET',
      path: demoPaths.callback,
      async handle(context, query) {
        const home = publicUrl + demoPaths.application;
        const go = (outcome: Outcome, ...cookies: string[]) =>
          sendRedirect(context, addToQuery(home, { outcome }), { 'Set-Cookie': cookies });

        const pending = findPendingLink(demoCookies, context, query.get('state') ?? '');
        // RFC 9207, section 2.4: a response from another server must not reach this token endpoint.
        if (pending === null || query.get('iss') !== publicUrl) return go('unasked');
        const forget = forgetPendingLink(demoCookies, pending);
        const code = query.get('code');
        if (code === null) {
          return go(query.get('error') === 'access_denied' ? 'denied' : 'failed', forget);
        }
        const secret = await client.convert(code, pending.codeVerifier);
        if (secret === null) return go('failed', forget);
        accounts.remove(demoCookies.read(context, 'session') ?? '');
        const session = demoCookies.set('session', accounts.add(secret), SESSION_SECONDS);
        sendRedirect(context, home, { 'Set-Cookie': [forget, session] });
      },
    }),
  ];
}
