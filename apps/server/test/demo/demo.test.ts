import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { credentialPattern } from '@latchkey/schema';
import { afterEach, describe, expect, test } from 'vitest';
import { demoAccounts } from '../../src/demo/demo-records.ts';
import { messageHeaders } from '../../src/events/message.ts';
import { DEMO_ENDPOINT_ID } from '../../src/store/unheard-changes.ts';
import type { Json } from '../http/call.ts';
import { formTokenIn, visit } from '../linking/page-flow.ts';
import { type DemoServer, startDemo, useDemo } from './running-demo.ts';

/** A browser as far as the demo needs one: it keeps cookies and follows redirects. */
function browser() {
  const jar = new Map<string, string>();
  async function go(url: string, form?: Record<string, string>) {
    let next = { url, form };
    for (;;) {
      const { origin, pathname, search } = new URL(next.url);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const options = { cookie, ...(next.form !== undefined && { form: next.form }) };
      const { status, headers, text } = await visit({ url: origin }, pathname + search, options);
      for (const set of headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        if (set.includes('Max-Age=0')) jar.delete(name);
        else jar.set(name, value);
      }
      const location = headers.get('location');
      if (location === null) return { status, text, url: next.url };
      next = { url: location, form: undefined };
    }
  }
  /** Up to the consent page. */
  async function toConsent({ demoUrl }: DemoServer, user = 'ada', query = '') {
    const signIn = await go(`${demoUrl}/connect${query}`);
    const link = linkIn(signIn.text);
    return { link, consent: await go(`${demoUrl}/sign-in`, { link, user }) };
  }
  const allow = ({ url, text }: { url: string; text: string }) =>
    go(url, { form_token: formTokenIn(text), decision: 'allow' });
  return { jar, go, toConsent, allow };
}

const linkIn = (page: string) => /name="link" value="([^"]+)"/.exec(page)?.[1] ?? '';

/** `fetch` sends no Host of the caller's. */
function statusFor(
  url: string,
  host: string,
  { method = 'GET', headers = {} } = {},
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { host, ...headers } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.once('error', reject).end();
  });
}

describe('the demo', () => {
  const server = useDemo();

  test('is reached by names of this machine alone', async () => {
    const { url, demoUrl } = server;
    const { port } = new URL(url);
    for (const host of [
      '127.0.0.1',
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      '[::1]',
      'LOCALHOST',
    ]) {
      expect(await statusFor(demoUrl ?? '', host)).toBe(200);
    }
    // DNS rebinding: a page of another site reaches this address under the name of that site.
    for (const host of [
      'rebind.example',
      `rebind.example:${port}`,
      '127.0.0.1.example',
      '192.168.0.7',
    ]) {
      for (const path of ['', '/connect', '/callback', '/sign-in', '/connections']) {
        expect(await statusFor(demoUrl + path, host)).toBe(404);
        expect(await statusFor(demoUrl + path, host, { method: 'POST' })).toBe(404);
      }
      // The service itself is there.
      expect(await statusFor(`${url}/healthz`, host)).toBe(200);
    }
  });

  test.each([
    ['X-Forwarded-For', '203.0.113.7'],
    ['X-Forwarded-Proto', 'https'],
    ['X-Real-IP', '203.0.113.7'],
    ['Forwarded', 'for=203.0.113.7'],
    ['Via', '1.1 proxy.example'],
  ])('is not reached through a proxy that adds %s', async (name, value) => {
    for (const path of ['', '/connect', '/callback', '/sign-in', '/connections']) {
      for (const method of ['GET', 'POST']) {
        const sent = { method, headers: { [name]: value } };
        expect(await statusFor(server.demoUrl + path, 'localhost', sent)).toBe(404);
      }
    }
  });

  test('is not reached through nginx as it comes', async () => {
    const { hostname, port, host } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.end(`GET /demo HTTP/1.0\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 404 /);
  });

  test('identifies its two accounts and nobody else', async () => {
    const { go, toConsent } = browser();
    const { link } = await toConsent(server);
    const stranger = { ...demoAccounts.ada, id: '0193aa00-0000-7000-8000-0000000000a1' };
    await server.service.store.putAccount({ ...stranger, username: 'stranger' });
    for (const user of [stranger.id, 'stranger', 'toString', '', demoAccounts.grace.id]) {
      expect((await go(`${server.demoUrl}/sign-in`, { link, user })).status).toBe(404);
    }
    expect((await go(`${server.demoUrl}/sign-in`, { link, user: 'grace' })).text).toContain(
      'Grace Hopper',
    );
  });

  test('takes no form of another site', async () => {
    const { go, toConsent, allow } = browser();
    const { link, consent } = await toConsent(server);
    await allow(consent);
    const { headers, url } = { url: server.url, headers: { 'sec-fetch-site': 'cross-site' } };
    for (const foreign of [headers, { origin: 'https://other.example' }]) {
      for (const [path, form] of [
        ['/demo/sign-in', { link, user: 'grace' }],
        ['/demo/connections', {}],
      ] as const) {
        const cookie = 'latchkey_demo_user=ada';
        const { status, text } = await visit({ url }, path, { form, cookie, headers: foreign });
        expect({ status, path }).toEqual({ status: 403, path });
        expect(text).toContain('form_rejected');
      }
    }
    expect((await go(server.demoUrl ?? '')).text).toContain('Ada Lovelace');
  });

  test('ignores a response that its browser has not asked for', async () => {
    const [ada, victim] = [browser(), browser()];
    const { consent } = await ada.toConsent(server);
    // The attacker has stopped before the callback, and sends it to somebody else.
    const form = { form_token: formTokenIn(consent.text), decision: 'allow' };
    const cookie = [...ada.jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const { pathname } = new URL(consent.url);
    const { headers } = await visit(server, pathname, { form, cookie });
    const callback = headers.get('location') ?? '';
    expect(callback).toContain('code=lk_code_');

    const { url, text } = await victim.go(callback);
    expect(url).toBe(`${server.demoUrl}?outcome=unasked`);
    expect(text).toContain('Connect your account');
    const state = new URL(callback).searchParams.get('state') ?? '';
    for (const [name, value] of [
      ['iss', 'https://other.example'],
      // The cookie is named by the first eight characters.
      ['state', state.slice(0, 8).padEnd(state.length, 'x')],
    ] as const) {
      const forged = new URL(callback);
      forged.searchParams.set(name, value);
      expect((await ada.go(forged.href)).url).toContain('outcome=unasked');
    }
    // Nothing of that has used up the code.
    expect((await ada.go(callback)).text).toContain('Your account is connected');
    expect((await ada.go(callback)).url).toContain('outcome=unasked');
  });

  test('says that a link on its sign-in page works no longer', async () => {
    const { go } = browser();
    for (const query of ['', '?link=lk_link_made-up']) {
      const { status, text } = await go(`${server.demoUrl}/sign-in${query}`);
      expect(status).toBe(404);
      expect(text).toContain('link_not_found');
      expect(text).toContain(`href="${server.demoUrl}"`);
    }
  });

  test('has no operator, and is what the metadata says', async () => {
    expect((await visit(server, '/admin/applications')).status).toBe(404);
    const { text } = await visit(server, '/.well-known/oauth-authorization-server');
    const { issuer, scopes_supported } = JSON.parse(text);
    expect(issuer).toBe(server.url);
    expect(scopes_supported).toEqual(['profile.read']);
  });

  /** What went over the wire: each request and its result. */
  const shownIn = (page: string) =>
    [...page.matchAll(/<summary>(.+?)<\/summary>/g)].map(([, text = '']) =>
      text.replaceAll(/<\/?code>/g, ''),
    );
  const used = 'POST /oauth/convert → 400 code_already_used';
  const works = 'GET /v1/grant → 200';

  test.each([
    ['race', ['POST /oauth/convert → 200', ...Array(7).fill(used), works]],
    [
      'lost',
      ['POST /oauth/convert → the response is lost', used, 'POST /oauth/recover → 200', works],
    ],
    [
      'replay',
      ['POST /oauth/convert → 200', used, 'POST /oauth/convert → 401 credentials_missing', works],
    ],
  ])('shows what happens to a code: %s', async (proof, exchanges) => {
    const { go, toConsent, allow } = browser();
    const { consent } = await toConsent(server, 'ada', `?proof=${proof}`);
    const { text } = await allow(consent);
    expect(text).toContain('Your account is connected');
    // Which of those at once is the first is not known.
    expect(shownIn(text).sort()).toEqual([...exchanges].sort());
    expect(text).toMatch(/lk_code_…\w{4}&quot;/);
    expect(text).toMatch(/&quot;code_verifier&quot;: &quot;…[\w-]{4}&quot;/);
    const ended = await go(`${server.demoUrl}/end`, {});
    expect(shownIn(ended.text)).toEqual([
      'POST /oauth/revoke → 200',
      'GET /v1/grant → 401 credentials_invalid',
    ]);
    expect(ended.text).toContain('Your account is disconnected');
    for (const page of [text, ended.text]) {
      expect(page).not.toMatch(credentialPattern);
      expect(page).not.toContain('whsec_');
    }
  });

  test('ends no grant for another site, nor for a browser without one', async () => {
    const { jar, toConsent, allow, go } = browser();
    await allow((await toConsent(server)).consent);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const foreign = { form: {}, cookie, headers: { 'sec-fetch-site': 'cross-site' } };
    expect((await visit(server, '/demo/end', foreign)).status).toBe(403);
    expect((await browser().go(`${server.demoUrl}/end`, {})).text).toContain(
      'Connect your account',
    );
    expect((await go(server.demoUrl ?? '')).text).toContain('Your account is connected');
  });

  test('shows what its own endpoint is told', async () => {
    const { go, toConsent, allow } = browser();
    await allow((await toConsent(server)).consent);
    const connections = await go(`${server.demoUrl}/connections`, {});
    const [, path = ''] = /href="(\/connections\/[^"]+)"/.exec(connections.text) ?? [];
    const { url, text } = await go(server.url + path);
    await go(url, { form_token: formTokenIn(text), decision: 'disconnect' });
    await expect
      .poll(async () => (await go(server.demoUrl ?? '')).text, { timeout: 20_000 })
      .toMatch(/Heard<\/dt><dd>grant\.revoked of [\w-]{36}, because: user</);
  });

  test('believes no message that the service has not signed', async () => {
    const body = JSON.stringify({ type: 'grant.revoked', data: { grant_id: 'made-up' } });
    const headers = messageHeaders(
      { eventId: '0193aa00-0000-7000-8000-0000000000e1', body },
      { secrets: [`whsec_${'A'.repeat(43)}=`], userAgent: 'Somebody', now: Date.now() },
    );
    for (const sent of [headers, { 'content-type': 'application/json' }]) {
      const options = { method: 'POST', headers: sent, body };
      expect((await fetch(`${server.demoUrl}/events`, options)).status).toBe(400);
    }
    expect((await browser().go(server.demoUrl ?? '')).text).not.toContain('made-up');
  });

  test('logs no credential', () => {
    expect(server.lines.length).toBeGreaterThan(10);
    expect(server.lines.join('\n')).not.toMatch(/lk_(?:link|ticket|page|code|grant)_\w{71}/);
  });
});

describe('the demo across a restart', () => {
  test('finishes what was begun before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-demo-'));
    const database = `file:${join(folder, 'demo.db')}`;
    const { go, toConsent, allow } = browser();
    const first = await startDemo({}, database);
    const { consent } = await toConsent(first);
    const linked = browser();
    await linked.allow((await linked.toConsent(first)).consent);
    const { port } = new URL(first.url);
    await first.close();

    const second = await startDemo({ PORT: port }, database);
    expect(await second.service.store.listEndpoints({}, { limit: 9, before: null })).toMatchObject([
      { id: DEMO_ENDPOINT_ID, url: `${second.demoUrl}/events`, disabled_reason: null },
    ]);
    expect((await allow(await go(consent.url))).text).toContain('Your account is connected');
    // The demo application keeps its grants in memory; the connection is still there to be ended.
    const page = await linked.go(second.demoUrl ?? '');
    expect(page.text).toContain('Connect your account');
    const connections = await linked.go(`${second.demoUrl}/connections`, {});
    expect(connections.text).toContain('Demo Application');
    await second.close();

    // The secret of the demo application is new with each start, and the oldest makes room.
    for (let start = 0; start < 6; start++) {
      const again = await startDemo({}, database);
      const user = browser();
      const page = await user.allow((await user.toConsent(again)).consent);
      expect(page.text).toContain('Your account is connected');
      await again.close();
    }
    await rm(folder, { recursive: true });
  });
});

test('on a first start, the page /docs shows what is served, the flow first', async () => {
  const { url, close } = await startDemo();
  const script = await (await fetch(`${url}/docs/open.js`)).text();
  const [, path = ''] = /url: '([^']+)'/.exec(script) ?? [];
  const { tags, paths }: Json = await (await fetch(url + path)).json();
  const routes = Object.entries<object>(paths).flatMap(([route, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), route] as const),
  );
  const codes = routes.map(async ([method, route]) => {
    const answer = await fetch(url + route, { method, redirect: 'manual' });
    return [method, route, /"error_code":"([^"]+)"/.exec(await answer.text())?.[1]];
  });
  const missing = ['route_not_found', 'method_not_allowed'];
  const answered = await Promise.all(codes);
  expect(answered.filter(([, , code]) => missing.includes(`${code}`))).toEqual([]);
  expect(routes.map((route) => route.join(' '))).toEqual(
    expect.arrayContaining([
      'GET /oauth/authorize',
      'POST /oauth/token',
      'POST /oauth/convert',
      'GET /v1/account',
      'POST /oauth/revoke',
      'GET /.well-known/oauth-authorization-server',
    ]),
  );
  expect(tags[0].name).toBe('Linking');
  await close();
});

describe('the demo is not there', () => {
  let server: DemoServer | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  const ADMIN_SECRET = 'a-secret-of-thirty-two-characters';
  test.each([
    { DATABASE_URL: 'file::memory:' },
    { ADMIN_SECRET },
    { TRUST_PROXY: 'true' },
    { HOST: '0.0.0.0' },
    { PUBLIC_URL: 'https://link.example' },
    {
      ADMIN_SECRET,
      PUBLIC_URL: 'http://127.0.0.1:3000',
      SIGN_IN_URL: 'http://127.0.0.1:3001/sign-in',
    },
  ])('with %j', async (environment) => {
    server = await startDemo(environment);
    const { url, demoUrl, service } = server;
    expect(demoUrl).toBeNull();
    const { port } = new URL(url);
    const here = { url: `http://127.0.0.1:${port}` };
    for (const path of ['/demo', '/demo/connect', '/demo/sign-in']) {
      expect((await visit(here, path)).status).toBe(404);
    }
    const isOn = 'SIGN_IN_URL' in environment;
    expect((await visit(here, '/oauth/authorize')).status).toBe(isOn ? 400 : 404);
    expect(await service.store.listApplications({ limit: 1, before: null })).toEqual([]);
  });
});

test('the demo is under PUBLIC_URL, where that is set', async () => {
  const server = await startDemo({ PUBLIC_URL: 'http://localhost:4000/latchkey' });
  expect(server.demoUrl).toBe('http://localhost:4000/latchkey/demo');
  const { headers } = await visit(server, '/demo/connect');
  expect(headers.get('set-cookie')).toContain('; Path=/latchkey/demo;');
  const location = new URL(headers.get('location') ?? '');
  expect(location.pathname).toBe('/latchkey/oauth/authorize');
  const begun = await visit(server, `/oauth/authorize${location.search}`);
  expect(begun.headers.get('location')).toMatch(
    /^http:\/\/localhost:4000\/latchkey\/demo\/sign-in\?link=/,
  );
  await server.close();
});
