import { randomUUID } from 'node:crypto';
import { formatCredential } from '@latchkey/schema';
import { invoke, type Json, succeed } from '../http/call.ts';
import { operator, type ServerWithDatabase } from '../http/running-server.ts';
import { unknownCredential } from '../http/unknown-credential.ts';
import {
  authorize,
  CALLBACK,
  type Changes,
  type LinkingApplication,
  linkingApplication,
} from './link-flow.ts';
import { identify, open, openConnections, openConsent, pathOf, visit } from './page-flow.ts';
import type { LinkingReason } from './reasons.ts';

/** A response that is told apart from the others of its code by nothing but the request id. */
interface Refused {
  status: number;
  headers: Headers;
  text: string;
}

/** Makes a request that is refused for one reason. */
type Arrange = (server: ServerWithDatabase, app: LinkingApplication) => Promise<Refused>;

const HOUR = 3_600_000;

const asked =
  (changes: Changes | ((app: LinkingApplication) => Changes)): Arrange =>
  (server, app) =>
    authorize(server, {
      ...app.request,
      ...(typeof changes === 'function' ? changes(app) : changes),
    });

const change = (
  server: ServerWithDatabase,
  { application_id }: LinkingApplication,
  how: 'disable' | 'delete',
) => succeed(server, `admin.applications.${how}`, { application_id }, operator);

const register = (
  server: ServerWithDatabase,
  { application_id }: LinkingApplication,
  redirect_uris: string[],
) => succeed(server, 'admin.applications.update', { application_id, redirect_uris }, operator);

/** What ends a link request, from the side of its application. */
const endings = {
  deleted: async (server: ServerWithDatabase, app: LinkingApplication): Promise<Json> => {
    await change(server, app, 'disable');
    return change(server, app, 'delete');
  },
  disabled: (server: ServerWithDatabase, app: LinkingApplication): Promise<Json> =>
    change(server, app, 'disable'),
  removed: (server: ServerWithDatabase, app: LinkingApplication): Promise<Json> =>
    register(server, app, ['https://app.example/other']),
  scopes: (server: ServerWithDatabase, { application_id }: LinkingApplication): Promise<Json> =>
    succeed(server, 'admin.applications.update', { application_id, scopes: [] }, operator),
};

const newResource = (server: ServerWithDatabase): Promise<Json> =>
  succeed(
    server,
    'admin.resources.create',
    { resource: `https://mcp.example/${randomUUID()}`, name: 'Notes' },
    operator,
  );

const read = (server: ServerWithDatabase, link: string) =>
  invoke(server, 'REST', 'admin.links.read', { link }, operator);

const readAfter =
  (end: keyof typeof endings): Arrange =>
  async (server, app) => {
    const { link } = await app.begin();
    await endings[end](server, app);
    return read(server, link);
  };

const showAfter =
  (end: keyof typeof endings): Arrange =>
  async (server, app) => {
    const page = await openConsent(server, app);
    await endings[end](server, app);
    return visit(server, page.path, page);
  };

/** The session in the value of a Cookie header, replaced. */
const withSession = (cookie: string, session: string) => cookie.replace(/=.*/, `=${session}`);

const answerOf =
  (form: (page: { form_token: string }) => Record<string, string>, headers = {}): Arrange =>
  async (server, app) => {
    const page = await openConsent(server, app);
    return visit(server, page.path, { cookie: page.cookie, form: form(page), headers });
  };
const allow = ({ form_token }: { form_token: string }) => ({ form_token, decision: 'allow' });

export const linkingReasonCases: Record<LinkingReason, Arrange> = {
  client_id_missing: asked({ client_id: undefined }),
  client_id_repeated: asked(({ application_id }) => ({
    client_id: [application_id, application_id],
  })),
  client_id_ill_formed: asked({ client_id: 'acme' }),
  client_not_found: asked(() => ({ client_id: randomUUID() })),
  client_disabled: async (server, app) => {
    await change(server, app, 'disable');
    return authorize(server, app.request);
  },
  redirect_uri_repeated: asked({ redirect_uri: [CALLBACK, CALLBACK] }),
  redirect_uri_omitted: async (server, app) => {
    await register(server, app, [CALLBACK, 'https://app.example/other']);
    return authorize(server, { ...app.request, redirect_uri: undefined });
  },
  redirect_uri_other: asked({ redirect_uri: `${CALLBACK}/` }),
  state_repeated: asked({ state: ['one', 'two'] }),
  state_ill_formed: asked({ state: 'ü' }),
  // A public URL of 20 characters, and each of these takes three.
  redirect_too_long: asked({ state: '/'.repeat(900) }),
  challenge_of_public_application: async (server) => {
    const native = await linkingApplication(server, { public: true });
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    return authorize(server, { ...native.request, ...without });
  },
  challenge_of_application: async (server) => {
    const strict = await linkingApplication(server, { challenge_required: true });
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    return authorize(server, { ...strict.request, ...without });
  },
  challenge_or_state: asked({
    ...{ state: undefined, code_challenge: undefined, code_challenge_method: undefined },
  }),
  resource_repeated: async (server, app) => {
    const { resource } = await newResource(server);
    return authorize(server, { ...app.request, resource: [resource, resource] });
  },
  resource_unregistered: async (server, app) => {
    const { resource } = await newResource(server);
    return authorize(server, { ...app.request, resource: `${resource}/other` });
  },
  scope_missing: asked({ scope: undefined }),
  scope_default_unusable: async (server) => {
    const { request } = await linkingApplication(server, {
      scopes: ['posts.read'],
      default_scopes: ['profile.read', 'nobody.knows'],
    });
    return authorize(server, { ...request, scope: undefined });
  },
  scope_ill_formed: asked({ scope: 'profile.read  posts.read' }),
  scope_undescribed: asked({ scope: 'nobody.knows' }),
  scope_not_allowed: async (server) => {
    const { request } = await linkingApplication(server, { scopes: [] });
    return authorize(server, request);
  },
  scope_not_asked_for: async (server, app) => {
    const { link } = await app.begin({ scope: 'profile.read' });
    const input = { link, account_id: app.account_id, scope: 'posts.read' };
    return invoke(server, 'REST', 'admin.links.approve', input, operator);
  },

  link_ill_formed: (server) => read(server, 'lk_link_x'),
  link_unknown: (server) => read(server, unknownCredential('link')),
  link_superseded: async (server, app) => {
    const page = await openConsent(server, app);
    const form = { form_token: page.form_token, decision: 'switch' };
    await visit(server, page.path, { cookie: page.cookie, form });
    return read(server, page.link);
  },
  link_of_deleted_application: readAfter('deleted'),
  link_of_disabled_application: readAfter('disabled'),
  link_redirect_uri_removed: readAfter('removed'),
  link_scope_removed: readAfter('scopes'),
  link_resource_removed: async (server, app) => {
    const { id: resource_id, resource } = await newResource(server);
    const { link } = await app.begin({ resource });
    await succeed(server, 'admin.resources.delete', { resource_id }, operator);
    return read(server, link);
  },

  page_cookie_missing: async (server, app) => visit(server, (await openConsent(server, app)).path),
  page_cookie_refused: async (server, app) => {
    const { link } = await app.begin();
    const { headers } = await visit(server, pathOf(await identify(server, link, app)));
    return visit(server, pathOf(headers.get('location') ?? ''));
  },
  page_ticket_ill_formed: async (server, app) => {
    const { path } = await openConsent(server, app);
    return visit(server, `${path}?ticket=lk_ticket_x`);
  },
  page_session_ill_formed: async (server, app) => {
    const { path, cookie } = await openConsent(server, app);
    return visit(server, path, { cookie: withSession(cookie, 'lk_page_x') });
  },
  page_unknown: async (server, app) => {
    const { path } = await openConsent(server, app);
    return visit(server, `${path}?ticket=${unknownCredential('pageTicket')}`);
  },
  page_of_another_address: async (server, app) => {
    const [{ path }, other] = [await openConsent(server, app), await openConsent(server, app)];
    return visit(server, path + new URL(other.url).search);
  },
  page_ticket_wrong: async (server, app) => {
    const { link, link_id } = await app.begin();
    const url = await identify(server, link, app);
    const { page_id } = (await server.service.store.findLink(link_id)) ?? {};
    const forged = formatCredential('pageTicket', page_id ?? '', new Uint8Array(32));
    return visit(server, `${pathOf(url).split('?')[0]}?ticket=${forged}`);
  },
  page_ticket_used: async (server, app) =>
    visit(server, pathOf((await openConsent(server, app)).url)),
  page_ticket_expired: async (server, app) => {
    const { link } = await app.begin();
    const url = await identify(server, link, app);
    server.advance(300_000);
    return visit(server, pathOf(url));
  },
  page_session_wrong: async (server, app) => {
    const { path, cookie, link_id } = await openConsent(server, app);
    const { page_id } = (await server.service.store.findLink(link_id)) ?? {};
    const forged = formatCredential('pageSession', page_id ?? '', new Uint8Array(32));
    return visit(server, path, { cookie: withSession(cookie, forged) });
  },
  page_session_over: async (server, { account_id }) => {
    const page = await openConnections(server, account_id);
    server.advance(HOUR / 2);
    return visit(server, page.path, page);
  },
  page_superseded: async (server, app) => {
    const page = await openConsent(server, app);
    await open(server, await identify(server, page.link, app));
    return visit(server, page.path, page);
  },
  page_link_unknown: async (server, app) => {
    const page = await openConsent(server, app);
    server.advance(4 * HOUR);
    return visit(server, page.path, page);
  },
  page_of_deleted_application: showAfter('deleted'),
  page_of_disabled_application: showAfter('disabled'),
  page_redirect_uri_removed: showAfter('removed'),
  page_scope_removed: showAfter('scopes'),
  page_resource_removed: async (server, app) => {
    const { id: resource_id, resource } = await newResource(server);
    const page = await openConsent(server, app, { resource });
    await succeed(server, 'admin.resources.delete', { resource_id }, operator);
    return visit(server, page.path, page);
  },
  page_signed_out: async (server, app) => {
    const page = await openConsent(server, app);
    await succeed(server, 'admin.pages.end', { account_id: app.account_id }, operator);
    return visit(server, page.path, page);
  },
  // An erasure deletes the pages of its account: somebody deleted the account by hand.
  page_account_erased: async (server, app) => {
    const page = await openConsent(server, app);
    await server.database.deleteAccount(app.account_id);
    return visit(server, page.path, page);
  },

  form_of_another_site: answerOf(allow, { 'sec-fetch-site': 'cross-site' }),
  form_of_another_origin: answerOf(allow, { origin: 'https://evil.example' }),
  form_token_missing: answerOf(() => ({ decision: 'allow' })),
  form_token_wrong: answerOf(() => ({ form_token: 'x', decision: 'allow' })),
};
