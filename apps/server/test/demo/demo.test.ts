import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { mintSecret } from '@latchkey/rules/applications/mint-secret';
import { MAX_LIVE_SECRETS } from '@latchkey/rules/applications/secrets';
import { messageHeaders } from '@latchkey/rules/events/message';
import { credentialPattern } from '@latchkey/schema';
import { DEMO_ENDPOINT_ID } from '@latchkey/store/events-keys';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDemoClient } from '../../src/demo/demo-client.ts';
import { demoAccounts } from '../../src/demo/demo-records.ts';
import { convertFor } from '../../src/demo/experiments.ts';
import { DEMO_APPLICATION_ID, DEMO_SECRET_ID, demoPaths } from '../../src/demo/linking-demo.ts';
import type { Json } from '../http/call.ts';
import { formTokenIn, visit } from '../linking/page-flow.ts';
import { type DemoServer, startDemo, useDemo } from './running-demo.ts';

/** A browser as far as the demo needs one: it keeps cookies and follows redirects. */
function browser() {
  const jar = new Map<string, string>();
  const cookies = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  async function go(url: string, form?: Record<string, string>) {
    let next = { url, form };
    for (;;) {
      const { origin, pathname, search } = new URL(next.url);
      const options = { cookie: cookies(), ...(next.form !== undefined && { form: next.form }) };
      const { status, headers, text } = await visit({ url: origin }, pathname + search, options);
      for (const set of headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        if (set.includes('Max-Age=0')) jar.delete(name);
        else jar.set(name, value);
      }
      const location = headers.get('location') ?? startIn(headers);
      if (location === null) return { status, text, url: next.url };
      next = { url: location, form: undefined };
    }
  }
  /** Up to the consent page. Who is signed in gets there at once. */
  async function toConsent({ demoUrl }: DemoServer, user = 'ada', query = '') {
    const signIn = await go(`${demoUrl}/connect${query}`);
    const link = linkIn(signIn.text);
    if (link === '') return { link, consent: signIn };
    return { link, consent: await go(`${demoUrl}/sign-in`, { link, user }) };
  }
  /** With the last of the workspaces, if there are any. */
  function allow({ url, text }: { url: string; text: string }) {
    const choice = /.*name="choice" value="(\w+)"/s.exec(text)?.[1];
    const chosen = choice === undefined ? {} : { choice };
    return go(url, { form_token: formTokenIn(text), ...chosen, decision: 'allow' });
  }
  return { cookies, go, toConsent, allow };
}

/** Where the end of a link leads by itself. */
const startIn = (headers: Headers): string | null =>
  headers.get('refresh')?.replace(/^0;url=/, '') ?? null;

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
      for (const path of Object.values(demoPaths)) {
        expect(await statusFor(url + path, host)).toBe(404);
        expect(await statusFor(url + path, host, { method: 'POST' })).toBe(404);
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
    for (const path of Object.values(demoPaths)) {
      for (const method of ['GET', 'POST']) {
        const sent = { method, headers: { [name]: value } };
        expect(await statusFor(server.url + path, 'localhost', sent)).toBe(404);
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

  test('asks for the workspace of whoever has some, and shows it to the application', async () => {
    const { go, toConsent, allow } = browser();
    const { consent } = await toConsent(server, 'grace');
    const asked = await go(consent.url, {
      ...{ form_token: formTokenIn(consent.text), decision: 'allow' },
    });
    expect(asked.text).toContain('parameter_invalid');
    await allow(consent);
    expect((await go(server.demoUrl ?? '')).text).toContain('<dd><bdi>Navy</bdi></dd>');
  });

  test('takes no form of another site', async () => {
    const { cookies, go, toConsent, allow } = browser();
    const { link, consent } = await toConsent(server);
    await allow(consent);
    // The pages have no form, the events are signed, and the style is a file.
    const { application, connect, callback, events, style, ...withForm } = demoPaths;
    const form = { link, user: 'grace' };
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'https://other.example' },
    ]) {
      for (const path of Object.values(withForm)) {
        const sent = { form, cookie: cookies(), headers };
        const { status, text } = await visit(server, path, sent);
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
    const { pathname } = new URL(consent.url);
    const cookie = ada.cookies();
    const { headers } = await visit(server, pathname, { form, cookie });
    const end = new URL(headers.get('location') ?? '');
    const done = await visit(server, end.pathname + end.search, { cookie });
    const callback = startIn(done.headers) ?? '';
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
    const again = await ada.go(callback);
    expect(again.url).toContain('outcome=unasked');
    expect(again.text).toContain('It was ignored.');
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

  test('leads back from an address where nothing is', async () => {
    const response = await fetch(`${server.url}/nothing`, { headers: { accept: 'text/html' } });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain(`href="${server.demoUrl}"`);
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

  const promised = /(?:worked|refused)\. Secrets and codes/;
  const broken = 'This is not what Latchkey promises. Look at the calls.';

  test.each([
    ['race', ['POST /oauth/convert → 200', `7 × ${used}`, ...Array(7).fill(used), works]],
    [
      'lost',
      ['POST /oauth/convert → the response is lost', used, 'POST /oauth/recover → 200', works],
    ],
    [
      'replay',
      ['POST /oauth/convert → 200', used, 'POST /oauth/convert → 401 credentials_missing', works],
    ],
  ])('shows what happens to a code: %s', async (experiment, calls) => {
    const { cookies, go, toConsent, allow } = browser();
    const { consent } = await toConsent(server, 'ada', `?try=${experiment}`);
    const [, verifier = ''] = /_linking_[^=]+=[\w-]{43}\.([\w-]{43})/.exec(cookies()) ?? [];
    expect(verifier).not.toBe('');
    const { text } = await allow(consent);
    expect(text).toContain('Your account is connected');
    expect(shownIn(text)).toEqual(calls);
    expect(text).toMatch(promised);
    expect(text).toMatch(/lk_code_…\w{4}&quot;/);
    expect(text).toMatch(/&quot;code_verifier&quot;: &quot;…[\w-]{4}&quot;/);
    expect(text).not.toContain(verifier);
    const ended = await go(`${server.demoUrl}/end`, {});
    expect(shownIn(ended.text)).toEqual([
      'POST /oauth/revoke → 200',
      'GET /v1/grant → 401 credentials_invalid',
    ]);
    expect(ended.text).toMatch(promised);
    expect(ended.text).toContain('Your account is disconnected');
    for (const page of [text, ended.text]) {
      expect(page).not.toMatch(credentialPattern);
      expect(page).not.toContain('whsec_');
    }
  });

  test('says that a promise was not kept, and makes a new secret after a removal', async () => {
    const { go, toConsent, allow } = browser();
    const removeSecret = () =>
      server.service.store.removeSecret(DEMO_APPLICATION_ID, DEMO_SECRET_ID);
    await allow((await toConsent(server)).consent);
    await removeSecret();
    const kept = await go(`${server.demoUrl}/end`, {});
    expect(shownIn(kept.text)).toEqual(['POST /oauth/revoke → 401 credentials_invalid', works]);
    expect(kept.text).toContain(broken);
    expect(kept.text).not.toMatch(promised);
    expect((await go(`${server.demoUrl}/end`, {})).text).toMatch(promised);

    await allow((await toConsent(server)).consent);
    await removeSecret();
    const failed = await allow((await toConsent(server)).consent);
    expect(failed.url).toContain('outcome=failed');
    const connected = await allow((await toConsent(server, 'ada', '?try=replay')).consent);
    expect(connected.text).toMatch(promised);
  });

  test('shows a failed attempt while linked, and no earlier calls with it', async () => {
    const { go, toConsent, allow } = browser();
    const linked = await allow((await toConsent(server, 'ada', '?try=replay')).consent);
    expect(linked.text).toContain('What went over the wire');
    const { consent } = await toConsent(server);
    const form = { form_token: formTokenIn(consent.text), decision: 'deny' };
    const { text } = await go(consent.url, form);
    expect(text).toContain('Your account is connected');
    expect(text).toContain('You chose not to connect your account');
    expect(text).not.toContain('What went over the wire');
  });

  test('loses no response that refuses the code', async () => {
    const client = createDemoClient(server.service, server.url, server.url);
    const link = { code: 'made-up', codeVerifier: 'v'.repeat(43) };
    const { grant, shown } = await convertFor('lost', client, link);
    expect(grant).toBeNull();
    expect(shown?.calls).toMatchObject([{ status: 400, error_code: 'code_not_found' }]);
  });

  test.each([
    ['no response', null, ''],
    ['a page of a proxy', 400, '<!doctype html>'],
    ['an error of the service', 503, '{}'],
  ])('says that the service cannot be reached: %s', async (_, status, body) => {
    const proxy = createServer((_, response) => {
      if (status === null) response.destroy();
      else response.writeHead(status).end(body);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const { port } = proxy.address() as AddressInfo;
    const client = createDemoClient(server.service, `http://127.0.0.1:${port}`, server.url);
    await expect(client.readGrant('made-up')).rejects.toMatchObject({ code: 'store_unavailable' });
    proxy.close();
  });

  test('ends no grant for a browser without one', async () => {
    const ended = await browser().go(`${server.demoUrl}/end`, {});
    expect(ended.text).toContain('Connect your account');
  });

  test('shows each browser what the endpoint is told about its own links', async () => {
    // Other tests replace the secret of the demo application.
    const own = await startDemo();
    onTestFinished(() => own.close());
    const [ada, grace] = [browser(), browser()];
    for (const [{ toConsent, allow, go }, user] of [
      [ada, 'ada'],
      [grace, 'grace'],
    ] as const) {
      await allow((await toConsent(own, user)).consent);
      await go(`${own.demoUrl}/end`, {});
    }
    await ada.allow((await ada.toConsent(own)).consent);
    const connections = await ada.go(`${own.demoUrl}/connections`, {});
    const [, path = ''] = /href="(\/connections\/[^"]+)"/.exec(connections.text) ?? [];
    const { url, text } = await ada.go(own.url + path);
    await ada.go(url, { form_token: formTokenIn(text), decision: 'disconnect' });

    const told = async ({ go }: typeof ada) =>
      [...(await go(own.demoUrl ?? '')).text.matchAll(/<li>(<code>grant\..+?)<\/li>/g)].map(
        ([, event = '']) => event.replace(/^<code>(.+)<\/code> of [\w-]{36}, because: /, '$1 '),
      );
    // Newest first, also of a link before the last one.
    const ofAda = ['grant.revoked user', 'grant.revoked application'];
    await expect.poll(() => told(ada), { timeout: 20_000 }).toEqual(ofAda);
    await expect
      .poll(() => told(grace), { timeout: 20_000 })
      .toEqual(['grant.revoked application']);
  });

  test('signs in once for all experiments, and again for another account', async () => {
    const { go, toConsent } = browser();
    await toConsent(server);
    const consent = await go(`${server.demoUrl}/connect?try=race`);
    expect(consent.text).toContain('wants to connect to your');
    expect(consent.text).toContain('Ada Lovelace');
    const form_token = formTokenIn(consent.text);
    const { text } = await go(consent.url, { form_token, decision: 'switch' });
    expect(text).toContain('Who are you?');
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
  });

  test('logs no credential', () => {
    expect(server.lines.length).toBeGreaterThan(10);
    expect(server.lines.join('\n')).not.toMatch(credentialPattern);
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

    // The secret of the demo application is new with each start.
    const operator = mintSecret(DEMO_APPLICATION_ID, Date.now(), null).record;
    for (let start = 0; start < 6; start++) {
      const again = await startDemo({}, database);
      const { store } = again.service;
      const limit = { most: MAX_LIVE_SECRETS, now: Date.now() };
      if (start === 0) await store.addSecret(DEMO_APPLICATION_ID, operator, limit);
      const user = browser();
      const page = await user.allow((await user.toConsent(again)).consent);
      expect(page.text).toContain('Your account is connected');
      const { secrets = [] } = (await store.findApplication(DEMO_APPLICATION_ID)) ?? {};
      expect(secrets.map(({ id }) => id).sort()).toEqual([DEMO_SECRET_ID, operator.id].sort());
      await again.close();
    }
    await rm(folder, { recursive: true });
  });
});

test('an application that links again ends its earlier grant', async () => {
  const server = await startDemo();
  const { go, toConsent, allow } = browser();
  for (const experiment of ['race', 'replay']) {
    await allow((await toConsent(server, 'ada', `?try=${experiment}`)).consent);
  }
  await go(`${server.demoUrl}/end`, {});
  const connections = await go(`${server.demoUrl}/connections`, {});
  expect(connections.text).toContain('Connected applications');
  expect(connections.text).not.toContain('Demo Application');

  // A failure of that loses no link.
  await allow((await toConsent(server)).consent);
  const revoke = vi.spyOn(server.service.store, 'revokeGrant');
  revoke.mockRejectedValueOnce(new Error('away'));
  const { text } = await allow((await toConsent(server, 'ada', '?try=race')).consent);
  expect(text).toContain('the grant worked');
  expect(revoke).toHaveBeenCalledOnce();
  await server.close();
});

test('an operator who used up the secrets keeps them all', async () => {
  const server = await startDemo();
  const { store } = server.service;
  const limit = { most: MAX_LIVE_SECRETS, now: Date.now() };
  const secrets = Array.from({ length: MAX_LIVE_SECRETS }, () =>
    mintSecret(DEMO_APPLICATION_ID, Date.now(), null),
  );
  for (const { record } of secrets) await store.addSecret(DEMO_APPLICATION_ID, record, limit);
  const { toConsent, allow } = browser();
  const { text } = await allow((await toConsent(server)).consent);
  expect(text).toContain('secret_limit_reached');
  expect((await store.findApplication(DEMO_APPLICATION_ID))?.secrets).toHaveLength(
    MAX_LIVE_SECRETS,
  );
  await server.close();
});

test('on a first start, the page /docs shows what is served, the flow first', async () => {
  const { url, close } = await startDemo();
  const script = await (await fetch(`${url}/docs/open.js`)).text();
  const [, path = ''] = /url: '([^']+)'/.exec(script) ?? [];
  const { tags, paths }: Json = await (await fetch(new URL(path, url))).json();
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
    for (const path of Object.values(demoPaths)) {
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
