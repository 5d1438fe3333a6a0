import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Latchkey } from '@latchkey/client';
import {
  expressLinking,
  fastifyLinking,
  fetchLinking,
  honoLinking,
  type LinkingOptions,
} from '@latchkey/client/linking';
import { describeInBrowser } from '@latchkey/test-kit/chromium';
import { createTestServer, type TestServer } from '@latchkey/testing';
import express from 'express';
import { type FastifyRequest, fastify } from 'fastify';
import { type Context, Hono } from 'hono';
import { setCookie } from 'hono/cookie';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { listenerOf } from './support/fetch-listener.ts';

// Each framework as an application uses it, with the real service: what it does with several cookies,
// with errors and with its own types is not known to the SDK.

let service: TestServer;
let latchkey: Latchkey;

beforeAll(async () => {
  service = await createTestServer();
  latchkey = new Latchkey(service);
});
afterAll(() => service.close());

const onLinked = vi.fn();
const onFailed = vi.fn();
beforeEach(() => {
  onLinked.mockReset().mockReturnValue('/settings');
  onFailed.mockReset().mockImplementation(({ name }) => `/failed?${name}`);
});

const COOKIE = 'theme=dark; Path=/';
const userOf = (header: unknown) => (typeof header === 'string' ? header : undefined);

/** The options of a framework whose requests have a header with the user. */
const optionsFor = <Incoming>(
  redirectUri: string,
  headerOf: (request: Incoming) => unknown,
): LinkingOptions<Incoming> => ({
  latchkey,
  redirectUri,
  scope: 'profile.read',
  userOf: (request) => userOf(headerOf(request)),
  onLinked,
  onAlready: (grantId) => `/already?${grantId}`,
  onFailed,
});

/** Starts an application of each framework, which also sets a cookie of its own on every response. */
const frameworks: Record<string, (redirectUri: string, server: Server) => Promise<void>> = {
  async Express(redirectUri, server) {
    const { connect, callback } = expressLinking<express.Request>(
      optionsFor(redirectUri, ({ headers }) => headers['x-user']),
    );
    const app = express();
    app.use((_request, response, next) => {
      response.append('Set-Cookie', COOKIE);
      next();
    });
    app.get('/connect', connect);
    app.get('/callback', callback);
    app.use(((error, _request, response, _next) => {
      response.status(500).send(error.message);
    }) satisfies express.ErrorRequestHandler);
    server.on('request', app);
  },

  async Fastify(redirectUri, server) {
    const { connect, callback } = fastifyLinking<FastifyRequest>(
      optionsFor(redirectUri, ({ headers }) => headers['x-user']),
    );
    const app = fastify({ serverFactory: (handler) => server.on('request', handler) });
    app.addHook('onRequest', async (_request, reply) => void reply.header('Set-Cookie', COOKIE));
    app.get('/connect', connect);
    app.get('/callback', callback);
    app.setErrorHandler((error: Error, _request, reply) => reply.code(500).send(error.message));
    await app.ready();
  },

  async Hono(redirectUri, server) {
    const { connect, callback } = honoLinking<Context>(
      optionsFor(redirectUri, (context) => context.req.header('x-user')),
    );
    const app = new Hono();
    app.use(async (context, next) => {
      setCookie(context, 'theme', 'dark');
      await next();
    });
    app.get('/connect', connect);
    app.get('/callback', callback);
    app.onError((error, context) => context.text(error.message, 500));
    server.on('request', listenerOf(app.fetch));
  },

  async fetch(redirectUri, server) {
    const { connect, callback } = fetchLinking(
      optionsFor<Request>(redirectUri, ({ headers }) => headers.get('x-user')),
    );
    const handle = async (request: Request) => {
      const { pathname } = new URL(request.url);
      try {
        const response = await (pathname === '/connect' ? connect : callback)(request);
        response.headers.append('Set-Cookie', COOKIE);
        return response;
      } catch (error) {
        return new Response((error as Error).message, { status: 500 });
      }
    };
    server.on('request', listenerOf(handle));
  },
};

/** Makes a request with headers that `fetch` keeps to itself. */
async function request(to: string, headers: Record<string, string>) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(to, { headers }, resolve).on('error', reject);
  });
  const { location, 'set-cookie': cookies = [], 'content-type': type } = response.headers;
  return { status: response.statusCode, location, cookies, type, body: await text(response) };
}

describe.each(Object.keys(frameworks))('with %s', (name) => {
  let server: Server;
  let url: string;

  beforeAll(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await frameworks[name]?.(`${url}/callback`, server);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Requests a path as a browser with cookies does, and returns where it leads and its cookies. */
  async function visit(to: string, cookie = '', user = 'user-1') {
    const headers = { cookie, 'x-user': user };
    const response = await fetch(to, { redirect: 'manual', headers });
    const { status } = response;
    const cookies = response.headers.getSetCookie();
    if (status === 500) return { error: await response.text(), cookies };
    expect(status).toBe(303);
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(cookies).toEqual(expect.arrayContaining([expect.stringMatching(/^theme=dark/)]));
    const linking = cookies.find((each) => each.startsWith('latchkey-linking-')) ?? '';
    return { location: response.headers.get('Location') ?? '', cookies, linking };
  }

  test('links an account', async () => {
    const { location = '', linking } = await visit(`${url}/connect`);
    const callbackUrl = await service.approve(location);
    const ended = await visit(callbackUrl, `a=b; ${linking}; c=d`);
    expect(ended.location).toBe(`${url}/settings`);
    const [[grant]] = onLinked.mock.calls as [[{ grant_id: string; grant_secret: string }]];
    expect(ended.linking).toMatch(/^latchkey-linking-[\w-]{8}=done\.[\w-]{36}\.; .*Max-Age=600;/);
    expect(await latchkey.introspect(grant.grant_secret)).toMatchObject({ active: true });
    for (const cookie of [linking, ended.linking]) {
      const again = await visit(callbackUrl, cookie);
      expect(again.location).toBe(`${url}/already?${grant.grant_id}`);
    }
    await latchkey.revokeToken(grant.grant_secret);
    expect(await latchkey.introspect(grant.grant_secret)).toEqual({ active: false });
  });

  test('links an account whose response is lost, also with two callbacks at once', async () => {
    const { location = '', linking } = await visit(`${url}/connect`);
    const callbackUrl = await service.approve(location);
    service.dropNextAnswer('grants.convert');
    const ended = await Promise.all([1, 2].map(() => visit(callbackUrl, linking)));
    const [grant] = onLinked.mock.lastCall as [{ grant_id: string; grant_secret: string }];
    expect(ended.map((each) => each.location).sort()).toEqual([
      `${url}/already?${grant.grant_id}`,
      `${url}/settings`,
    ]);
    expect(await latchkey.introspect(grant.grant_secret)).toMatchObject({ active: true });
  });

  test('connects under the host name of the redirect URI', async () => {
    const { port } = new URL(url);
    const response = await fetch(`http://localhost:${port}/connect?plan=pro`, {
      redirect: 'manual',
    });
    expect(response.headers.get('Location')).toBe(`${url}/connect?plan=pro`);
  });

  test('begins and ends a link only for a person who navigates a tab', async () => {
    const open = async (path: string, headers: Record<string, string>) => {
      const response = await request(`${url}${path}`, headers);
      expect(response.cookies.filter((cookie) => cookie.startsWith('latchkey-'))).toEqual([]);
      return response;
    };
    const { location = '', linking: cookie = '' } = await visit(`${url}/connect`);
    const { search } = new URL(await service.approve(location));
    for (const path of ['/connect?plan=pro', `/callback${search}`]) {
      const part = await open(path, { 'Sec-Fetch-Dest': 'iframe', cookie });
      expect([part.status, part.type]).toEqual([400, 'text/html; charset=UTF-8']);
      const [, href = ''] = /<a href="(.*?)" target="_top" data-turbo="false">Continue</.exec(
        part.body,
      ) as RegExpExecArray;
      expect(new URL(href.replaceAll('&amp;', '&'), `${url}${path}`).href).toBe(`${url}${path}`);
      const early = await open(path, { Purpose: 'prefetch', cookie });
      expect([early.status, early.body]).toEqual([503, '']);
    }
    // As a service worker passes it on.
    const worker = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'empty' };
    const asUser = { ...worker, cookie, 'x-user': 'user-1' };
    expect((await request(`${url}/connect`, worker)).status).toBe(303);
    expect((await request(`${url}/callback${search}`, asUser)).location).toBe(`${url}/settings`);
  });

  test('tells why an account was not linked', async () => {
    const { location = '', linking } = await visit(`${url}/connect`);
    const denied = await service.deny(location);
    const failed = await visit(denied, linking);
    expect(failed.location).toBe(`${url}/failed?LinkDeniedError`);
    expect((await visit(denied, failed.linking)).location).toBe(`${url}/`);
    expect((await visit(denied)).location).toBe(`${url}/failed?StateMismatchError`);
    const other = await visit(denied, linking, 'user-2');
    expect(other.location).toBe(`${url}/failed?StateMismatchError`);
    expect(onLinked).not.toHaveBeenCalled();
  });

  test('leaves the errors of the application to the framework', async () => {
    onLinked.mockRejectedValue(new Error('The database is down.'));
    const { location = '', linking } = await visit(`${url}/connect`);
    const ended = await visit(await service.approve(location), linking);
    expect(ended.error).toBe('The database is down.');
  });
});

test('with Express, connect keeps the path of the router that has it', async () => {
  const { connect } = expressLinking(optionsFor('http://localhost:4000/callback', () => ''));
  const app = express().use('/accounts', express.Router().get('/connect', connect));
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const location = await new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    const headers = { host: '127.0.0.1:4000' };
    get({ port, path: '/accounts/connect', headers }, (response) => {
      response.resume();
      resolve(response.headers.location);
    }).on('error', reject);
  });
  server.close();
  expect(location).toBe('http://localhost:4000/accounts/connect');
});

test('a handler of fetch is a route handler of Next.js', () => {
  const { connect } = fetchLinking(optionsFor<Request>('http://localhost/callback', () => ''));
  // What `next build` checks of `export const GET`.
  const GET: (request: Request, context: { params: Promise<object> }) => Promise<Response> =
    connect;
  expect(GET).toBeTypeOf('function');
});

/** Passes navigations on, and forgets that the browser preloads them: each comes twice. */
const WORKER = `
self.addEventListener('activate', (event) => event.waitUntil(
  self.registration.navigationPreload.enable().then(() => self.clients.claim()),
));
self.addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));
`;
const REGISTERS = `<!doctype html><title>A page</title><script>
navigator.serviceWorker.oncontrollerchange = () => { document.title = 'controlled'; };
navigator.serviceWorker.register('/worker.js');
</script>`;

describeInBrowser('an application with a service worker, in a browser', (open) => {
  test('links an account, and a callback that comes again leads on', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await using own = await createTestServer({ signInUrl: `${url}/sign-in` });
    const { connect, callback } = expressLinking<express.Request>({
      ...optionsFor(`${url}/callback`, () => 'user-1'),
      latchkey: new Latchkey(own),
    });
    const arrived: string[] = [];
    const app = express();
    app.use(({ path, headers }, _response, next) => {
      const isPreload = headers['service-worker-navigation-preload'] !== undefined;
      arrived.push(`${path} ${isPreload ? 'preload' : headers['sec-fetch-dest']}`);
      next();
    });
    app.get('/connect', connect);
    app.get('/callback', callback);
    app.get('/worker.js', (_request, response) => void response.type('js').send(WORKER));
    app.use((_request, response) => void response.send(REGISTERS));
    server.on('request', app);

    const { page } = await open();
    await page.goto(`${url}/`);
    await page.waitForFunction("document.title === 'controlled'");
    arrived.length = 0;
    const signIn = await page.goto(`${url}/connect`);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    const address = await own.approve(`${signIn?.request().redirectedFrom()?.url()}`);
    for (const expected of [/\/(?:settings|already\?[\w-]{36})$/, /\/already\?[\w-]{36}$/]) {
      await page.goto(address);
      expect(page.url()).toMatch(expected);
    }
    for (const path of ['/connect', '/callback']) {
      expect(arrived).toEqual(expect.arrayContaining([`${path} preload`, `${path} empty`]));
    }
    expect(new Set(onLinked.mock.calls.map(([{ grant_id }]) => grant_id)).size).toBe(1);
    expect(onFailed).not.toHaveBeenCalled();
    server.closeAllConnections();
    server.close();
  });
});
