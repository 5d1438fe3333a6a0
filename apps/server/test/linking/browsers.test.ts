import { request as sendRequest } from 'node:http';
import { expect, test } from 'vitest';
import { succeed } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { refusalsOf } from '../http/refusals-of.ts';
import { operator, useServer } from '../http/running-server.ts';
import {
  addedTo,
  authorize,
  CALLBACK,
  LINKING,
  linkingApplication,
  PUBLIC_URL,
  VERIFIER,
} from './link-flow.ts';
import { formTokenIn, identify, openConnections, openConsent, pathOf, visit } from './page-flow.ts';

interface Sent {
  method?: string;
  headers?: Record<string, string>;
}

const linksIn = (page: string) =>
  [...page.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = '']) =>
    href.replaceAll('&amp;', '&'),
  );

describeOnAnyStore('a browser', (fresh) => {
  const server = useServer(fresh, LINKING);

  /** Unlike `fetch`, this sends headers that are a browser's own. */
  function get(path: string, { method = 'GET', headers = {} }: Sent = {}) {
    const answer = Promise.withResolvers<{
      status: number;
      headers: Record<string, string | string[] | undefined>;
      text: string;
    }>();
    const sent = sendRequest(server.url + path, { method, headers }, async (response) => {
      const text = (await response.setEncoding('utf8').toArray()).join('');
      answer.resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
    sent.on('error', answer.reject).end();
    return answer.promise;
  }

  /** An application, and the address that opens its consent page. */
  async function asked(members = {}, changes = {}) {
    const app = await linkingApplication(server, members);
    const { link, link_id } = await app.begin(changes);
    return { ...app, link, link_id, url: pathOf(await identify(server, link, app)) };
  }

  const cookieOf = ({ headers }: { headers: Headers }) =>
    (headers.get('set-cookie') ?? '').split(';')[0] ?? '';

  const taken = async (url: string, cookie?: string) => {
    const response = await visit(server, url, { cookie });
    return { status: response.status, cookie: cookieOf(response) };
  };

  const consents = async (path: string, cookie: string) =>
    (await visit(server, path, { cookie })).status;

  test.each([
    ['an image', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, 400],
    ['a frame', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, 400],
    [
      'a prefetch',
      { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', purpose: 'Prefetch' },
      503,
    ],
    ['a preview', { 'x-moz': 'preview' }, 503],
  ])('of %s begins, opens, uses up, counts and sets nothing', async (_, headers, status) => {
    const { request, link_id, url, account_id } = await asked();
    const connections = await openConnections(server, account_id);
    const begun = `/oauth/authorize?${new URLSearchParams(request)}`;
    const { cookie, path } = await openConsent(server, await linkingApplication(server));
    await server.service.audit.flush();
    const before = server.lines.length;
    const answers = [];
    for (const method of ['GET', 'HEAD']) {
      for (const address of [
        ...[begun, url, `/link/${link_id}/done?start`, path, pathOf(connections.url)],
        ...['/connections', '/connections/5f0c9a8e-1f0b-4a5e-9d3c-2b8f3a7e6d11'],
      ]) {
        const own = { ...headers, cookie: `${cookie}; ${connections.cookie}` };
        const answer = await get(address, { method, headers: own });
        answers.push(answer);
        expect(answer.status).toBe(status);
        expect(answer.headers['set-cookie']).toBeUndefined();
        expect(answer.headers.location).toBeUndefined();
        const page = answer.text;
        expect(linksIn(page)).toEqual(method === 'GET' ? [`/base${address}`] : []);
        if (method === 'GET') expect(page).toContain('target="_top" data-turbo="false"');
      }
    }
    await server.service.audit.flush();
    const actions = server.lines.slice(before).map((line) => JSON.parse(line).action ?? null);
    expect(actions.filter((action) => action !== null)).toEqual([]);
    for (const { headers: sent } of answers) {
      expect(await refusalsOf(server.service, String(sent['x-request-id']))).toEqual([]);
    }
    expect((await taken(url)).status).toBe(303);
    expect((await get(`/link/${link_id}/other`, { headers })).status).toBe(404);
  });

  test('behind a service worker, or of a program, goes on', async () => {
    const { request, url } = await asked();
    const begun = `/oauth/authorize?${new URLSearchParams(request)}`;
    const worker = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'empty' };
    expect((await get(begun, { headers: worker })).status).toBe(303);
    expect((await get(begun, { headers: { 'sec-fetch-mode': 'cors' } })).status).toBe(303);
    const opened = await get(url, { headers: worker });
    const [cookie = ''] = opened.headers['set-cookie']?.[0]?.split(';') ?? [];
    const page = await get(pathOf(`${opened.headers.location}`), {
      headers: { ...worker, cookie },
    });
    expect(formTokenIn(page.text)).not.toBe('');
  });

  test('that takes a ticket twice has the page by the cookie that comes back first', async () => {
    const { url, link_id } = await asked();
    const path = `/link/${link_id}`;
    const first = await taken(url);
    server.advance(9_999);
    const second = await taken(url, first.cookie);
    expect([second.status, second.cookie === '']).toEqual([303, false]);
    expect(await consents(path, second.cookie)).toBe(200);
    expect(await consents(path, first.cookie)).toBe(410);
    // Its cookie is there already, so it gets no other one.
    expect(await taken(url, second.cookie)).toEqual({ status: 303, cookie: '' });
    expect((await taken(url)).status).toBe(410);
  });

  test('has ten seconds and eight sessions for a ticket, and any time to come back', async () => {
    const { url, link_id } = await asked();
    const sessions = [];
    for (let times = 0; times < 8; times += 1) sessions.push(await taken(url));
    expect(sessions.map(({ status }) => status)).toEqual(new Array(8).fill(303));
    expect((await taken(url)).status).toBe(410);
    const late = await asked();
    const { cookie } = await taken(late.url);
    server.advance(10_000);
    expect((await taken(late.url)).status).toBe(410);
    server.advance(3_000_000);
    expect(await consents(`/link/${late.link_id}`, cookie)).toBe(200);
    expect(await consents(`/link/${link_id}`, sessions[7]?.cookie ?? '')).toBe(200);
    expect(await consents(`/link/${link_id}`, sessions[0]?.cookie ?? '')).toBe(410);
  });

  test('of concurrent returns, one session has the page', async () => {
    const { url, link_id } = await asked();
    const cookies = [];
    for (let times = 0; times < 4; times += 1) cookies.push((await taken(url)).cookie);
    const statuses = await Promise.all(
      cookies.map((cookie) => consents(`/link/${link_id}`, cookie)),
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  });

  test('without cookies is told so, with a way on', async () => {
    const homepage_uri = 'https://acme.example/';
    const { url, link_id, account_id, link } = await asked({ homepage_uri });
    const { headers } = await visit(server, url);
    const address = pathOf(headers.get('location') ?? '');
    const refused = await visit(server, address);
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('<dd>cookies_refused</dd>');
    expect(refused.text).toContain('<bdi>link.example</bdi>');
    expect(linksIn(refused.text)).toEqual([homepage_uri]);
    await server.service.audit.flush();
    const [known] = await refusalsOf(server.service, refused.headers.get('x-request-id') ?? '');
    expect(known).toMatchObject({ reason: 'page_cookie_refused', account_id });

    // Any other request without a cookie has the same answer as ever.
    const expired = async (path: string, cookie?: string) => {
      const { status, text } = await visit(server, path, { cookie });
      expect([status, text.includes('<dd>page_expired</dd>')]).toEqual([410, true]);
    };
    await expired(`/link/${link_id}`);
    await expired(address.replace(link_id, (await asked()).link_id));
    await expired(address, `__Host-latchkey_link_${link_id.replaceAll('-', '')}=other`);
    server.advance(300_000);
    await expired(address);
    const again = pathOf(await identify(server, link, { account_id }));
    const opened = await visit(server, again);
    const cookie = cookieOf(opened);
    const where = pathOf(opened.headers.get('location') ?? '');
    expect((await visit(server, where, { cookie })).status).toBe(200);
    await expired(where);

    const return_url = 'https://host.example/settings';
    const input = { page: 'connections', account_id, return_url };
    const page = await succeed(server, 'admin.pages.create', input, operator);
    const list = await visit(server, pathOf(page.url));
    const told = await visit(server, pathOf(list.headers.get('location') ?? ''));
    expect([told.status, linksIn(told.text)]).toEqual([400, [return_url]]);
  });

  const APP = 'com.example.app:/callback';
  const LOOPBACK = 'http://127.0.0.1/callback';

  async function decided(redirect_uri: string, decision: string, members = {}) {
    const app = await linkingApplication(server, {
      ...{ redirect_uris: [redirect_uri], public: true },
      ...members,
    });
    const page = await openConsent(server, app, { redirect_uri });
    const form = { form_token: page.form_token, decision };
    const press = () => visit(server, page.path, { cookie: page.cookie, form });
    const first = await press();
    const show = (path: string, sent = {}) => visit(server, path, { cookie: page.cookie, ...sent });
    return { app, page, press, show, location: first.headers.get('location') ?? '' };
  }

  test.each([APP, LOOPBACK])('ends at a page that starts %s, for ten seconds', async (uri) => {
    const { page, press, show, location } = await decided(uri, 'allow');
    expect(location).toBe(`${PUBLIC_URL}${page.path}/done?start`);
    expect((await press()).headers.get('location')).toBe(location);

    const done = await show(pathOf(location));
    expect(done.status).toBe(200);
    const [href = '', ...others] = linksIn(done.text);
    expect(others).toEqual([]);
    expect(done.headers.get('refresh')).toBe(`0;url=${href}`);
    expect(done.text).toContain('Open <bdi>Acme</bdi>');
    expect(done.text).toContain('<bdi>Ada Lovelace</bdi>');
    expect(done.headers.get('content-security-policy')).toContain("form-action 'self'");
    const head = await show(pathOf(location), { method: 'HEAD' });
    expect(head.headers.get('refresh')).toBe(done.headers.get('refresh'));

    for (const path of [page.path, `${page.path}/done`]) {
      const calm = await show(path);
      expect([calm.status, calm.headers.get('refresh')]).toEqual([200, null]);
      expect(linksIn(calm.text)).toEqual([href]);
    }
    expect((await visit(server, `${page.path}/done?start`)).status).toBe(410);
    server.advance(10_000);
    expect((await show(pathOf(location))).headers.get('refresh')).toBeNull();
    server.advance(290_000);
    const late = await show(`${page.path}/done`);
    expect([late.status, linksIn(late.text)]).toEqual([200, []]);
    expect(late.text).toContain('is connected');

    const { code } = addedTo(`${uri}?`, href);
    expect(code).toMatch(/^lk_code_/);
  });

  test('has no way to an application whose code was redeemed', async () => {
    const { app, page, show, location } = await decided(CALLBACK, 'allow', { public: false });
    const { code } = addedTo(`${CALLBACK}&`, location);
    const end = await show(page.path);
    expect([linksIn(end.text), end.headers.get('refresh')]).toEqual([[location], null]);
    expect((await show(`${page.path}/done?start`)).headers.get('refresh')).toBeNull();
    const redemption = { code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
    await succeed(server, 'grants.convert', redemption, app.bearer);
    expect(linksIn((await show(page.path)).text)).toEqual([]);
  });

  test('that denied ends at a page that tells the application on this device', async () => {
    const { page, show, location } = await decided(APP, 'deny');
    expect(location).toBe(`${PUBLIC_URL}${page.path}/done?start`);
    const done = await show(pathOf(location));
    const [href = ''] = linksIn(done.text);
    expect(done.headers.get('refresh')).toBe(`0;url=${href}`);
    expect(addedTo(`${APP}?`, href)).toMatchObject({ error: 'access_denied' });
    expect(done.text).toContain('Nothing was connected');
    server.advance(300_000);
    expect(linksIn((await show(`${page.path}/done`)).text)).toEqual([]);
  });

  test('is led from the end of an undecided link to its page, and from that of others nowhere', async () => {
    const app = await linkingApplication(server);
    const page = await openConsent(server, app);
    const { cookie } = page;
    const undecided = await visit(server, `${page.path}/done`, { cookie });
    expect([undecided.status, undecided.headers.get('location')]).toEqual([
      303,
      PUBLIC_URL + page.path,
    ]);
    await succeed(server, 'admin.links.approve', { link: page.link, ...idOf(app) }, operator);
    for (const path of [page.path, `${page.path}/done`]) {
      expect((await visit(server, path, { cookie })).status).toBe(409);
    }
  });

  const idOf = ({ account_id }: { account_id: string }) => ({ account_id });

  test('gets no redirect that a proxy would refuse', async () => {
    const { request } = await linkingApplication(server);
    // Form-encoded, each of these takes three bytes, and PUBLIC_URL has 33 twice.
    const room = 2_700 - CALLBACK.length - 2 * encodeURIComponent(PUBLIC_URL).length;
    const longest = '/'.repeat(Math.floor(room / 3)) + 'x'.repeat(room % 3);
    const good = await authorize(server, { ...request, state: longest });
    expect(good.status).toBe(303);
    const refused = await authorize(server, { ...request, state: `${longest}x` });
    expect([refused.status, refused.text.includes('>state_invalid</a></dd>')]).toEqual([400, true]);

    const { begin, account_id, request: own } = await linkingApplication(server);
    const { link } = await begin({ state: longest });
    for (const name of ['approve', 'deny'] as const) {
      const { link: one } = name === 'deny' ? await begin({ state: longest }) : { link };
      const input = { link: one, ...(name === 'approve' && { account_id }) };
      const { redirect_to } = await succeed(server, `admin.links.${name}`, input, operator);
      expect(redirect_to.length).toBeLessThanOrEqual(3_500);
    }
    const failed = await authorize(server, { ...own, state: longest, scope: 'x'.repeat(900) });
    expect(failed.status).toBe(303);
    expect(failed.headers.get('location')?.length).toBeLessThanOrEqual(3_500);
  });
});
