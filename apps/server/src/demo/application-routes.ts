import { DomainError } from '@latchkey/domain/domain-error';
import { addToQuery, ownLocation } from '@latchkey/rules/linking/redirect';
import { readBody } from '../http/body.ts';
import { readOwnForm } from '../http/form.ts';
import type { RequestContext } from '../http/request-context.ts';
import { sendJson, sendRedirect } from '../http/response.ts';
import type { Route } from '../http/router.ts';
import { createDemoClient } from './demo-client.ts';
import { demoAccounts, demoScope } from './demo-records.ts';
import { type DemoTools, demoFrame, demoRoute } from './demo-tools.ts';
import { convertFor, endAndCall, linkExperimentOf } from './experiments.ts';
import { createHeardEvents } from './heard-events.ts';
import { signedInUser } from './host-routes.ts';
import { createLinkedAccounts, type LinkedAccount } from './linked-accounts.ts';
import { DEMO_APPLICATION_ID, demoPaths } from './linking-demo.ts';
import {
  challengeOf,
  findPendingLink,
  forgetPendingLink,
  keepPendingLink,
  newPendingLink,
} from './pending-link.ts';
import { applicationPage, type LinkState, type Outcome } from './views/application-page.ts';

const SESSION_SECONDS = 24 * 3600;

const MOST_SHOWN = 6;

export function applicationRoutes(tools: DemoTools): Route[] {
  const { publicUrl, url, demoCookies, origin } = tools;
  const client = createDemoClient(tools.callContext.service, url, publicUrl);
  const home = publicUrl + demoPaths.application;
  const accounts = createLinkedAccounts();
  const heard = createHeardEvents(tools.callContext.service);

  const accountOf = (context: RequestContext): LinkedAccount | null =>
    accounts.find(demoCookies.read(context, 'session') ?? '');

  async function linkStateOf(account: LinkedAccount | null): Promise<LinkState> {
    if (account === null) return { kind: 'none' };
    const { body: grant, error } = await client.readGrant(account.grant_secret);
    if (grant !== null) return { kind: 'linked', grant };
    if (error?.error_code === 'credentials_invalid') return { kind: 'ended' };
    throw new DomainError('store_unavailable');
  }

  return [
    demoRoute(tools, {
      method: 'GET',
      path: demoPaths.application,
      async handle(context, query) {
        const account = accountOf(context);
        const state = await linkStateOf(account);
        const user = signedInUser(tools, context);
        const page = applicationPage(demoFrame(tools, context), {
          state,
          outcome: query.get('outcome'),
          user: user === null ? null : demoAccounts[user],
          heard: heard.about(account?.grant_ids ?? []).slice(0, MOST_SHOWN),
          shown: account?.shown ?? null,
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
      handle(context, query) {
        const pending = newPendingLink(linkExperimentOf(query.get('try')));
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
        sendRedirect(context, ownLocation(tools, location), { 'Set-Cookie': cookie });
      },
    }),
    demoRoute(tools, {
      method: 'GET',
      path: demoPaths.callback,
      async handle(context, query) {
        const go = (outcome: Outcome, ...cookies: string[]) =>
          sendRedirect(context, ownLocation(tools, addToQuery(home, { outcome })), {
            'Set-Cookie': cookies,
          });

        const pending = findPendingLink(demoCookies, context, query.get('state') ?? '');
        // RFC 9207, section 2.4: a response from another server must not reach this token endpoint.
        if (pending === null || query.get('iss') !== publicUrl) return go('unasked');
        const forget = forgetPendingLink(demoCookies, pending);
        const code = query.get('code');
        if (code === null) {
          return go(query.get('error') === 'access_denied' ? 'denied' : 'failed', forget);
        }
        const { codeVerifier, experiment } = pending;
        const { grant, shown } = await convertFor(experiment, client, { code, codeVerifier });
        if (grant === null) return go('failed', forget);
        const { grant_id, grant_secret } = grant;
        const earlier = accountOf(context);
        const grant_ids = [grant_id, ...(earlier?.grant_ids ?? [])].slice(0, MOST_SHOWN);
        const session = accounts.add({ grant_id, grant_secret, grant_ids, shown });
        // If this fails, the new link still counts. The user can end the earlier one at the host.
        if (earlier !== null) await client.revoke(earlier.grant_id).catch(() => null);
        accounts.remove(demoCookies.read(context, 'session') ?? '');
        const cookie = demoCookies.set('session', session, SESSION_SECONDS);
        sendRedirect(context, ownLocation(tools, home), { 'Set-Cookie': [forget, cookie] });
      },
    }),
    demoRoute(tools, {
      method: 'POST',
      path: demoPaths.end,
      async handle(context) {
        await readOwnForm(context, origin);
        const account = accountOf(context);
        if (account !== null) account.shown = await endAndCall(client, account);
        sendRedirect(context, ownLocation(tools, home));
      },
    }),
  ];
}
