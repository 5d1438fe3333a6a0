import { invoke, type Json, succeed } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import { addedTo, authorize, CALLBACK, linkingApplication, VERIFIER } from './link-flow.ts';
import { openConnections, openConsent, visit } from './page-flow.ts';

/** What was used on a walk through the flow, and what others were told about it. */
export interface Walk {
  /** Whatever has to stay between the parties of the flow. */
  secrets: string[];
  /** Responses that may have none of them. */
  responses: { title: string; status: number; text: string }[];
}

/** Goes through the whole flow, then sends each secret to places where it does not belong. */
export async function walk(server: { url: string }): Promise<Walk> {
  const app = await linkingApplication(server);
  const { account_id } = app;
  const state = 'a-state-that-nobody-else-may-see';
  const hint = 'a-hint-that-nobody-else-may-see';
  const page = await openConsent(server, app, { state, login_hint: hint });
  const allow = { form_token: page.form_token, decision: 'allow' };
  const allowed = await visit(server, page.path, { cookie: page.cookie, form: allow });
  const { code } = addedTo(`${CALLBACK}&`, allowed.headers.get('location') ?? '');
  const byHost = await app.begin({ state });
  const approved = await succeed(
    server,
    'admin.links.approve',
    { link: byHost.link, account_id },
    operator,
  );
  const redemption = { code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
  const grant = await succeed(server, 'grants.convert', redemption, app.bearer);
  const connections = await openConnections(server, account_id);

  const ticketIn = (url: string) => new URL(url).searchParams.get('ticket') ?? '';
  const sessionIn = (cookie: string) => cookie.split('=')[1] ?? '';
  const secrets = [
    ...[page.link, byHost.link, ticketIn(page.url), ticketIn(connections.url)],
    ...[sessionIn(page.cookie), sessionIn(connections.cookie)],
    ...[page.form_token, connections.form_token].filter((token) => token !== ''),
    ...[code, addedTo(`${CALLBACK}&`, approved.redirect_to).code, grant.grant_secret],
    ...[VERIFIER, state, hint],
  ];

  const responses: Walk['responses'] = [];
  const note = (title: string, { status, text }: { status: number; text: string }) =>
    responses.push({ title, status, text });
  const post = (path: string, form: Record<string, string>, cookie: string) =>
    visit(server, path, { cookie, form });
  for (const secret of secrets) {
    for (const name of [...Object.keys(app.request), 'login_hint', 'ui_locales', 'prompt']) {
      // With this state it would be a good request, whose link is the host's to see.
      if (name === 'state') continue;
      const { client_id: _, ...rest } = { ...app.request, [name]: secret };
      note(`authorize without a client, ${name}`, await authorize(server, rest));
      const invalid = { ...app.request, state: '', [name]: secret, scope: secret };
      note(`authorize, ${name}`, await authorize(server, invalid));
    }
    for (const step of ['read', 'identify', 'approve', 'deny'] as const) {
      const input: Json = { link: secret, account_id: secret, locale: secret, scope: secret };
      for (const wire of ['REST', 'tRPC'] as const) {
        const name = `admin.links.${step}` as const;
        note(name, await invoke(server, wire, name, input, operator));
      }
    }
    const ended = { account_id: secret };
    note('pages.end', await invoke(server, 'REST', 'admin.pages.end', ended, operator));
    const asked = { page: secret, account_id: secret, return_url: secret, locale: secret };
    note('pages.create', await invoke(server, 'REST', 'admin.pages.create', asked, operator));
    for (const path of [page.path, connections.path, `/link/${secret}`, `/connections/${secret}`]) {
      const query = `?${new URLSearchParams({ done: secret, state: secret, code: secret })}`;
      note(`GET ${path}`, await visit(server, `${path}${query}`));
      const ticket = `?${new URLSearchParams({ ticket: secret })}`;
      note(`GET ${path} with a ticket`, await visit(server, path + ticket));
      const cookie = page.cookie.replace(/=.*/, `=${encodeURIComponent(secret)}`);
      note(`GET ${path} with a cookie`, await visit(server, path, { cookie }));
      const form = { form_token: secret, decision: secret, [secret]: secret };
      note(`POST ${path}`, await post(path, form, page.cookie));
      note(
        `POST ${path}, its own form`,
        await post(path, { ...form, ...allow, decision: secret }, page.cookie),
      );
    }
  }
  return { secrets, responses };
}
