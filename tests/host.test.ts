import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LatchkeyAdmin } from '@latchkey/client/admin';
import {
  expressHost,
  fastifyHost,
  fetchHost,
  type HostOptions,
  honoHost,
} from '@latchkey/client/host';
import { createTestServer, type TestServer } from '@latchkey/testing';
import express from 'express';
import { type FastifyRequest, fastify } from 'fastify';
import { type Context, Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listenerOf } from './support/fetch-listener.ts';

// Each framework as a host uses it, with the real service: what it does with forms, with middleware and
// with its own types is not known to the SDK. packages/client/src/host has every case of the routes.

const ACCOUNTS: Record<string, { account_id: string; username: string }> = {
  ada: { account_id: '0193aa00-0000-7000-8000-0000000000a1', username: 'ada' },
  grace: { account_id: '0193aa00-0000-7000-8000-0000000000a2', username: 'grace' },
};

/** The options of a framework whose requests have a cookie with the user. */
const optionsFor = <Incoming>(
  origin: string,
  admin: LatchkeyAdmin,
  cookieOf: (request: Incoming) => string | null | undefined,
): HostOptions<Incoming> => ({
  admin,
  signInUrl: `${origin}/link`,
  accountOf: (request) => ACCOUNTS[/user=(\w+)/.exec(cookieOf(request) ?? '')?.[1] ?? ''],
  signInPage: (next) => `/sign-in?next=${encodeURIComponent(next)}`,
  consentPage: (link) => `/consent?link=${link}`,
});

/** Without a page of its own: the service asks. */
const asked = <Incoming>(options: HostOptions<Incoming>): HostOptions<Incoming> => ({
  ...options,
  signInUrl: options.signInUrl.replace('/link', '/ask'),
  consentPage: undefined,
});

const SIGNED_OUT = 'user=; Path=/; Max-Age=0';

/** Starts a host of each framework, which sets a cookie of its own on every response. */
const frameworks: Record<
  string,
  (origin: string, admin: LatchkeyAdmin, server: Server) => Promise<void> | void
> = {
  Express(origin, admin, server) {
    const options = optionsFor<express.Request>(origin, admin, ({ headers }) => headers.cookie);
    const host = expressHost(options);
    const app = express();
    app.use((_request, response, next) => {
      response.append('Set-Cookie', 'theme=dark');
      next();
    });
    app.get('/link', host.handOff);
    app.get('/ask', expressHost(asked(options)).handOff);
    app.post('/consent', express.urlencoded(), host.decide);
    app.post('/connected-applications', host.connections);
    app.post('/sign-out', host.signOut, (_request, response) => {
      response.append('Set-Cookie', SIGNED_OUT).redirect(303, '/');
    });
    app.use(((error, _request, response, _next) => {
      response.status(500).send(error.name);
    }) satisfies express.ErrorRequestHandler);
    server.on('request', app);
  },

  async Fastify(origin, admin, server) {
    const options = optionsFor<FastifyRequest>(origin, admin, ({ headers }) => headers.cookie);
    const host = fastifyHost(options);
    const app = fastify({ serverFactory: (handler) => server.on('request', handler) });
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      async (_request: unknown, body: string | Buffer) =>
        Object.fromEntries(new URLSearchParams(`${body}`)),
    );
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('Set-Cookie', 'theme=dark');
    });
    app.get('/link', host.handOff);
    app.get('/ask', fastifyHost(asked(options)).handOff);
    app.post('/consent', host.decide);
    app.post('/connected-applications', host.connections);
    app.post('/sign-out', { preHandler: host.signOut }, async (_request, reply) =>
      reply.header('Set-Cookie', SIGNED_OUT).redirect('/', 303),
    );
    app.setErrorHandler((error: Error, _request, reply) => reply.code(500).send(error.name));
    await app.ready();
  },

  Hono(origin, admin, server) {
    const options = optionsFor<Context>(origin, admin, ({ req }) => req.header('cookie'));
    const host = honoHost(options);
    const app = new Hono();
    app.use(async (context, next) => {
      context.header('Set-Cookie', 'theme=dark', { append: true });
      await next();
    });
    app.get('/link', host.handOff);
    app.get('/ask', honoHost(asked(options)).handOff);
    app.post('/consent', host.decide);
    app.post('/connected-applications', host.connections);
    app.post('/sign-out', host.signOut, (context) => {
      context.header('Set-Cookie', SIGNED_OUT, { append: true });
      return context.redirect('/', 303);
    });
    app.onError((error, context) => context.text(error.name, 500));
    server.on('request', listenerOf(app.fetch));
  },

  fetch(origin, admin, server) {
    const options = optionsFor<Request>(origin, admin, ({ headers }) => headers.get('cookie'));
    const host = fetchHost(options);
    const headers = { Location: '/', 'Set-Cookie': SIGNED_OUT };
    const routes: Record<string, (request: Request) => Promise<Response>> = {
      '/link': host.handOff,
      '/ask': fetchHost(asked(options)).handOff,
      '/consent': host.decide,
      '/connected-applications': host.connections,
      '/sign-out': host.signOut(() => new Response(null, { status: 303, headers })),
    };
    const handle = async (request: Request) => {
      const route = routes[new URL(request.url).pathname] as (typeof routes)[string];
      const response = await route(request).catch(
        ({ name }: Error) => new Response(name, { status: 500 }),
      );
      response.headers.append('Set-Cookie', 'theme=dark');
      return response;
    };
    server.on('request', listenerOf(handle));
  },
};

describe.each(Object.keys(frameworks))('with %s', (name) => {
  let server: Server;
  let origin: string;
  let service: TestServer;
  let admin: LatchkeyAdmin;

  beforeAll(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    service = await createTestServer({ signInUrl: `${origin}/link` });
    const { baseUrl, adminSecret } = service;
    const root = new LatchkeyAdmin({ baseUrl, adminSecret });
    const key = await root.keys.create({ name: 'Sign-in page', role: 'host' });
    admin = new LatchkeyAdmin({ baseUrl, adminSecret: key.secret, maxRetries: 0 });
    await frameworks[name]?.(origin, admin, server);
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await service.close();
  });

  const browser = { 'Sec-Fetch-Site': 'same-origin' };

  /** Requests an address as a browser does. A form makes it a POST. */
  async function visit(to: string, user: string, form?: Record<string, string>, headers = browser) {
    const response = await fetch(new URL(to, origin), {
      redirect: 'manual',
      headers: { cookie: `a=b; user=${user}`, ...(form && headers) },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    const cookies = response.headers.getSetCookie();
    expect(cookies).toContain('theme=dark');
    const location = response.headers.get('Location') ?? '';
    return { status: response.status, location, cookies, text: await response.text() };
  }

  /** A link that an application began. */
  async function begin() {
    const application = await service.beginLink();
    const link = new URL(application.signInUrl).searchParams.get('link') as string;
    return { application, link, ask: application.signInUrl.replace('/link?', '/ask?') };
  }

  test('links an account that the service does not know yet, behind the sign-in page', async () => {
    const { application, ask } = await begin();
    const { location } = await visit(ask, '');
    const next = new URL(location).searchParams.get('next') as string;
    const { grant } = await application.finish((await visit(next, 'grace')).location);
    expect(grant?.account).toMatchObject({ username: 'grace' });
  });

  test('is an ordinary sign-in without a link', async () => {
    expect(await visit('/link', '')).toMatchObject({
      status: 303,
      location: `${origin}/sign-in?next=%2F`,
    });
    expect(await visit('/link', 'ada')).toMatchObject({ status: 303, location: `${origin}/` });
  });

  test('tells what became of a link that does not work', async () => {
    expect(await visit('/ask?link=undefined', 'ada')).toMatchObject({
      status: 404,
      text: expect.stringContaining('Start again in the application'),
    });
    const { application, ask } = await begin();
    const { location } = await visit(ask, 'ada');
    await application.finish(location, 'deny');
    expect(await visit(ask, 'ada')).toMatchObject({
      status: 409,
      text: expect.stringContaining('already answered'),
    });

    const late = await begin();
    service.advance(3_600_000);
    const expired = await visit(late.ask, 'ada');
    const outcome = await late.application.finish(expired.location);
    expect(outcome).toEqual({ grant: null, error_code: 'link_expired' });
  });

  test('leads to the connected applications, from a form of its own alone', async () => {
    const { status, location } = await visit('/connected-applications', 'ada', {});
    expect(status).toBe(303);
    expect(location).toMatch(`${service.baseUrl}/connections?ticket=lk_ticket_`);
    const elsewhere = { 'Sec-Fetch-Site': 'cross-site' };
    const refused = await visit('/connected-applications', 'ada', {}, elsewhere);
    expect(refused).toMatchObject({ status: 403, location: '' });
  });

  test('leaves the errors of the service to the framework', async () => {
    const { ask } = await begin();
    service.failNext('store_unavailable');
    expect(await visit(ask, 'ada')).toMatchObject({ status: 500, text: 'UnavailableError' });
  });

  describe('with a consent page of its own', () => {
    /** Opens the consent page. */
    async function open(user: string) {
      const { application, link } = await begin();
      const { location } = await visit(application.signInUrl, user);
      expect(location).toBe(`${origin}/consent?link=${link}`);
      const { account_id } = await admin.links.read({ link });
      return { application, form: { link, account_id: account_id as string } };
    }

    test('decides as the user does', async () => {
      for (const decision of ['allow', 'deny']) {
        const { application, form } = await open('ada');
        const { location } = await visit('/consent', 'ada', { ...form, decision });
        const { grant, error_code } = await application.finish(location);
        const expected = decision === 'allow' ? ['ada', null] : [undefined, 'access_denied'];
        expect([grant?.account.username, error_code]).toEqual(expected);
      }
    });

    test('approves for nobody else than whom it was shown', async () => {
      const { application, form } = await open('ada');
      const allow = { ...form, decision: 'allow' };
      const handOff = `${origin}/link?link=${form.link}`;
      // The session has changed under the page.
      expect((await visit('/consent', 'grace', allow)).location).toBe(handOff);
      // Another user has opened the link since, and the page of the first is still there.
      await visit(handOff, 'grace');
      expect((await visit('/consent', 'ada', allow)).location).toBe(handOff);
      expect(await admin.links.read({ link: form.link })).toMatchObject({ status: 'identified' });
      // Asked again, it works.
      await visit(handOff, 'ada');
      const { grant } = await application.finish((await visit('/consent', 'ada', allow)).location);
      expect(grant?.account.username).toBe('ada');
    });
  });

  test('ends the pages of a user who signs out, for no other site', async () => {
    const { application, ask } = await begin();
    const { location } = await visit(ask, 'ada');
    const elsewhere = { 'Sec-Fetch-Site': 'cross-site' };
    const refused = await visit('/sign-out', 'ada', {}, elsewhere);
    expect([refused.status, refused.cookies]).toEqual([403, ['theme=dark']]);

    const { status, cookies } = await visit('/sign-out', 'ada', {});
    expect([status, cookies.includes(SIGNED_OUT)]).toEqual([303, true]);
    await expect(application.finish(location)).rejects.toThrow('page_expired');
    // The link is still there for whoever signs in next.
    const { grant } = await application.finish((await visit(ask, 'grace')).location);
    expect(grant?.account.username).toBe('grace');
  });
});

test('a handler of fetch is a route handler of Next.js', () => {
  const options = optionsFor<Request>('http://localhost', {} as LatchkeyAdmin, () => '');
  const { handOff, signOut } = fetchHost(options);
  type RouteHandler = (request: Request, context: { params: Promise<object> }) => Promise<Response>;
  // What `next build` checks of `export const GET`.
  const handlers: RouteHandler[] = [handOff, signOut(() => new Response())];
  expect(handlers).toHaveLength(2);
});
