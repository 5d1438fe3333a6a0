import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type EventsOptions,
  expressEvents,
  fastifyEvents,
  fetchEvents,
  honoEvents,
} from '@latchkey/client/events';
import { signEvent } from '@latchkey/testing';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { listenerOf } from './support/fetch-listener.ts';

// Each framework as an application uses it: what it does with bodies, with errors and with its own types
// is not known to the SDK. packages/client/src/events has every case of the receivers.

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const revoked = {
  type: 'grant.revoked',
  data: { grant_id: '0193aa00-0000-7000-8000-000000000001', reason: 'user' },
} as const;

const handle = vi.fn();
const onError = vi.fn();
const failed = vi.fn();
const options: EventsOptions = { secret, on: { 'grant.revoked': handle }, onError };
beforeEach(() => vi.resetAllMocks());

/**
 * An application of each framework, with the parsers that it has. Its routes: `/events`, and `/parsed`,
 * where another parser comes first.
 */
const frameworks: Record<string, () => RequestListener | Promise<RequestListener>> = {
  Express() {
    const app = express();
    app.all('/events', expressEvents(options));
    app.post('/raw', express.raw({ type: '*/*' }), expressEvents(options));
    app.post('/text', express.text({ type: '*/*' }), expressEvents(options));
    // What functions of Firebase, and NestJS with `rawBody: true`, do.
    const verify = (request: IncomingMessage & { rawBody?: Buffer }, _: unknown, bytes: Buffer) => {
      request.rawBody = bytes;
    };
    app.post('/kept', express.json({ verify }), expressEvents(options));
    app.use(express.json());
    app.post('/parsed', expressEvents(options));
    app.use(((error, _request, response, _next) => {
      failed(error.message);
      response.status(500).end();
    }) satisfies express.ErrorRequestHandler);
    return app;
  },

  async Fastify() {
    const app = fastify();
    app.all('/events', fastifyEvents(options));
    const readAll = async ({ raw }: { raw: AsyncIterable<unknown> }) => {
      for await (const _ of raw);
    };
    app.register(async (scope) => {
      scope.addHook('onRequest', readAll);
      scope.post('/parsed', fastifyEvents(options));
    });
    // The parser of the other routes is as it was.
    app.post('/other', async ({ body }) => body);
    app.setErrorHandler((error: Error, _request, reply) => {
      failed(error.message);
      return reply.code(500).send();
    });
    await app.ready();
    return app.routing;
  },

  Hono() {
    const app = new Hono();
    app.all('/events', honoEvents(options));
    app.use('/parsed', async ({ req }, next) => {
      await req.json();
      await next();
    });
    app.post('/parsed', honoEvents(options));
    app.onError((error, context) => {
      failed(error.message);
      return context.text('', 500);
    });
    return listenerOf(app.fetch);
  },

  fetch() {
    const receive = fetchEvents(options);
    return listenerOf(async (request) => {
      if (request.url.endsWith('/parsed')) await request.json();
      return receive(request).catch((error: Error) => {
        failed(error.message);
        return new Response(null, { status: 500 });
      });
    });
  },
};

describe.each(Object.keys(frameworks))('with %s', (name) => {
  const server = createServer();
  let origin: string;
  beforeAll(async () => {
    server.on('request', await (frameworks[name] as () => RequestListener)());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const send = (path: string, message: RequestInit) =>
    fetch(origin + path, { method: 'POST', ...message });

  test('a message reaches its handler', async () => {
    const response = await send('/events', signEvent(revoked, secret, { id: 'evt_7' }));
    expect([response.status, await response.text()]).toEqual([204, '']);
    const details = { id: 'evt_7', type: 'grant.revoked', timestamp: expect.any(String) };
    expect(handle.mock.calls).toEqual([[revoked.data, details]]);
  });

  test('a changed, an old and a foreign message do not', async () => {
    const { body, headers } = signEvent(revoked, secret);
    const later = signEvent(revoked, secret, { at: Date.now() - 400_000 });
    const foreign = signEvent(revoked, `whsec_${randomBytes(32).toString('base64')}`);
    for (const wrong of [{ headers, body: `${body} ` }, later, foreign, { body }]) {
      expect((await send('/events', wrong)).status).toBe(400);
    }
    expect(handle).not.toHaveBeenCalled();
  });

  test('a message of any media type is read as it is', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json']) {
      const { body, headers } = signEvent(revoked, secret);
      const response = await send('/events', {
        body,
        headers: { ...headers, 'content-type': type },
      });
      expect(response.status).toBe(204);
    }
  });

  test('more than 64 KiB is refused, with and without a length, and the next one taken', async () => {
    const large = { ...signEvent(revoked, secret), body: new Uint8Array(300_000) };
    expect((await send('/events', large)).status).toBe(413);
    const parts = new ReadableStream({
      start(controller) {
        for (let part = 0; part < 20; part++) controller.enqueue(new Uint8Array(16_384));
        controller.close();
      },
    });
    const streamed = { ...large, body: parts, duplex: 'half' } as RequestInit;
    expect((await send('/events', streamed)).status).toBe(413);
    expect((await send('/events', signEvent(revoked, secret))).status).toBe(204);
  });

  test('what a handler throws is a 500, whatever status it has', async () => {
    const error = Object.assign(new Error('gone'), { status: 410, statusCode: 410 });
    handle.mockRejectedValueOnce(error);
    expect((await send('/events', signEvent(revoked, secret))).status).toBe(500);
    expect(onError.mock.calls[0]?.[0]).toBe(error);
    expect(failed).not.toHaveBeenCalled();
  });

  test('another method is told the right one', async () => {
    const response = await fetch(`${origin}/events`);
    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'POST']);
  });

  test('a body that another parser has read is an error that says so', async () => {
    expect((await send('/parsed', signEvent(revoked, secret))).status).toBe(500);
    const [[said]] = failed.mock.calls as [[string]];
    expect(said).toContain('Another parser has read the body');
    expect(said).not.toContain(revoked.data.grant_id);
    expect(handle).not.toHaveBeenCalled();
  });

  if (name === 'Express') {
    test.each(['/raw', '/text', '/kept'])('a body that %s has kept is verified', async (path) => {
      const signed = signEvent(revoked, secret);
      const { body } = signed;
      const headers = { ...signed.headers, 'content-type': 'application/json' };
      expect((await send(path, { body, headers })).status).toBe(204);
      expect((await send(path, { body: `${body} `, headers })).status).toBe(400);
      expect((await send(path, { body: `{${' '.repeat(65_537)}}`, headers })).status).toBe(413);
    });

    test('a connection that breaks within the body is an error, and no event', async () => {
      const { headers } = signEvent(revoked, secret);
      const controller = new AbortController();
      onTestFinished(() => controller.abort());
      const body = new ReadableStream({
        pull(stream) {
          stream.enqueue(new Uint8Array(10));
          setTimeout(() => controller.abort(), 50);
          return new Promise(() => {});
        },
      });
      const { signal } = controller;
      const init = { headers, body, signal, duplex: 'half' } as RequestInit;
      await expect(send('/events', init)).rejects.toThrow();
      await vi.waitFor(() => expect(failed).toHaveBeenCalled());
      expect(handle).not.toHaveBeenCalled();
    });
  }

  if (name === 'Fastify') {
    test('the bodies of other routes are parsed as before', async () => {
      const headers = { 'content-type': 'application/json' };
      const response = await send('/other', { headers, body: '{"a":1}' });
      expect(await response.json()).toEqual({ a: 1 });
    });
  }
});
