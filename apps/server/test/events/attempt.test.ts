import { readFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createSender, type Sender, type SenderOptions } from '@latchkey/rules/events/attempt';
import { freePort } from '@latchkey/test-kit/free-port';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createWorld, listen, resolver, serve, servePlain, type World } from '../outbound/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const senders: Sender[] = [];
afterEach(() => {
  for (const sender of senders.splice(0)) sender.close();
});

const HOST = 'docs.example.com';
const NOW = Date.parse('2027-01-15T08:00:00Z');
const BODY = '{"type":"ping","timestamp":"2027-01-15T08:00:00.000Z","data":{"name":"Zoë"}}';

/** Longer than any test waits, for those that don't wait for it. */
const LONG = 30_000;
const SHORT = 300;

function senderWith(options: Partial<SenderOptions> = {}): Sender {
  const { resolve } = resolver({ [HOST]: [['127.0.0.1']] });
  const sender = createSender({
    clock: () => NOW,
    allow: { private: true },
    timeout: LONG,
    restTimeout: LONG,
    resolve,
    ...options,
  });
  senders.push(sender);
  return sender;
}

const never = new AbortController().signal;

const sendTo = (url: string, sender: Sender = senderWith(), signal = never) =>
  sender.send({ url, headers: { 'webhook-id': 'evt_1' }, body: BODY, signal });

const at = (port: number) => `https://${HOST}:${port}/events?a=b`;

const serveTrusted = (listener: RequestListener) => serve(world.pem, listener);

/** Serves what the test writes on the socket once a request has begun. */
const serveRaw = (respond: (socket: Socket) => unknown) =>
  listen(
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => respond(socket));
    }),
  );

const plain = (port: number) => `http://${HOST}:${port}/events`;

/** The result of what is written on a socket, without TLS. */
async function resultOf(
  respond: (socket: Socket) => unknown,
  options: Partial<SenderOptions> = {},
) {
  const { port } = await serveRaw(respond);
  const sender = senderWith({ allow: { private: true, http: true }, ...options });
  const attempt = await sendTo(plain(port), sender);
  return [attempt?.result, attempt?.status_code];
}

test('a message arrives as it was given', async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<[IncomingMessage, string]>();
  const { port } = await serveTrusted(async (message, response) => {
    arrive([message, Buffer.concat(await message.toArray()).toString()]);
    response.writeHead(204).end();
  });
  const attempt = await sendTo(at(port));
  const [{ method, url, headers }, body] = await arrived;
  expect([method, url, body]).toEqual(['POST', '/events?a=b', BODY]);
  expect(headers).toMatchObject({
    host: `${HOST}:${port}`,
    'webhook-id': 'evt_1',
    'content-length': `${Buffer.byteLength(BODY)}`,
  });
  expect(attempt).toEqual({
    at: NOW,
    duration_ms: expect.any(Number),
    result: 'delivered',
    status_code: 204,
    retry_after_seconds: null,
  });
  expect(Number.isInteger(attempt?.duration_ms)).toBe(true);
});

test.each([
  [200, 'delivered'],
  [299, 'delivered'],
  [300, 'redirected'],
  [304, 'redirected'],
  [399, 'redirected'],
  [400, 'refused'],
  [410, 'refused'],
  [500, 'refused'],
  [999, 'refused'],
])('the status %i is %s', async (status, expected) => {
  expect(
    await resultOf((socket) =>
      socket.end(`HTTP/1.1 ${status} Said\r\nContent-Length: 0\r\nLocation: /elsewhere\r\n\r\n`),
    ),
  ).toEqual([expected, status]);
});

test('a redirect is not followed', async () => {
  const target = await serveTrusted((_, response) => response.end());
  const { port, connections } = await serveTrusted((_, response) =>
    response.writeHead(307, { location: at(target.port) }).end(),
  );
  expect(await sendTo(at(port))).toMatchObject({ result: 'redirected', status_code: 307 });
  expect([connections(), target.connections()]).toEqual([1, 0]);
});

const endless = (text: string) => (socket: Socket) => {
  const pour = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on('drain', pour);
  pour();
};

const drip = (first: string, text: string) => (socket: Socket) => {
  socket.write(first);
  const timer = setInterval(() => socket.write(text), 20);
  socket.once('close', () => clearInterval(timer));
};

const OK = 'HTTP/1.1 200 OK\r\n';
const short = { timeout: SHORT };

test.each<[what: string, respond: (socket: Socket) => unknown, options: object, expected: unknown]>(
  [
    ['nothing', () => {}, short, ['timeout', null]],
    ['headers, byte by byte', drip(`${OK}X-A: `, 'a'), short, ['timeout', null]],
    [
      'interim responses, one by one',
      drip('', 'HTTP/1.1 102 Wait\r\n\r\n'),
      {},
      ['connection_failed', null],
    ],
    [
      'interim responses without end',
      endless('HTTP/1.1 103 Hint\r\n\r\n'),
      {},
      ['connection_failed', null],
    ],
    [
      'a few interim responses',
      (socket) => socket.end(`${'HTTP/1.1 103 Hint\r\n\r\n'.repeat(10)}${OK}\r\n`),
      {},
      ['delivered', 200],
    ],
    [
      'headers without end',
      (socket) => {
        socket.write(OK);
        endless('X-A: a\r\n')(socket);
      },
      {},
      ['connection_failed', null],
    ],
    [
      'one header without end',
      (socket) => {
        socket.write(`${OK}X-A: `);
        endless('a'.repeat(999))(socket);
      },
      {},
      ['connection_failed', null],
    ],
    [
      'a body without end',
      (socket) => {
        socket.write(`${OK}\r\n`);
        endless('a'.repeat(999))(socket);
      },
      {},
      ['delivered', 200],
    ],
    [
      'chunks without end',
      (socket) => {
        socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`);
        endless('1\r\na\r\n')(socket);
      },
      {},
      ['delivered', 200],
    ],
    [
      'a chunk extension without end',
      (socket) => {
        socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n1;`);
        endless('a'.repeat(999))(socket);
      },
      {},
      ['delivered', 200],
    ],
    [
      'trailers without end',
      (socket) => {
        socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n`);
        endless('X-A: a\r\n')(socket);
      },
      {},
      ['delivered', 200],
    ],
    ['a body, byte by byte', drip(`${OK}\r\n`, 'a'), { restTimeout: SHORT }, ['delivered', 200]],
    [
      'a body that never begins',
      (socket) => socket.write(`${OK}Content-Length: 9\r\n\r\n`),
      { restTimeout: SHORT },
      ['delivered', 200],
    ],
    [
      'a body that is cut',
      (socket) => socket.end(`${OK}Content-Length: 9\r\n\r\na`),
      {},
      ['delivered', 200],
    ],
    ['a reset', (socket) => socket.resetAndDestroy(), {}, ['connection_failed', null]],
    [
      'a reset in the headers',
      (socket) => {
        socket.write(OK, () => socket.resetAndDestroy());
      },
      {},
      ['connection_failed', null],
    ],
    [
      'a reset in the body',
      (socket) => {
        socket.write(`${OK}Content-Length: 9\r\n\r\na`, () => socket.resetAndDestroy());
      },
      {},
      ['delivered', 200],
    ],
    ['the end, at once', (socket) => socket.end(), {}, ['connection_failed', null]],
    [
      'no HTTP',
      (socket) => socket.end('220 mail.example ESMTP\r\n'),
      {},
      ['connection_failed', null],
    ],
    [
      'another protocol',
      (socket) => socket.end('HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n'),
      {},
      ['connection_failed', null],
    ],
    [
      'two lengths',
      (socket) => socket.end(`${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`),
      {},
      ['connection_failed', null],
    ],
  ],
)('a receiver that sends %s', async (_, respond, options, expected) => {
  expect(await resultOf(respond, options)).toEqual(expected);
});

describe('a connection', () => {
  test('that is refused', async () => {
    expect(await sendTo(at(await freePort()))).toMatchObject({
      result: 'connection_failed',
      status_code: null,
    });
  });

  test('to a name without an address', async () => {
    expect(await sendTo('https://nowhere.example.com/')).toMatchObject({
      result: 'connection_failed',
    });
  });

  test('whose name is never resolved', async () => {
    const resolve = () => {};
    const sender = senderWith({ resolve, timeout: SHORT });
    expect(await sendTo('https://a.example.com/', sender)).toMatchObject({ result: 'timeout' });
  });

  test('whose TLS never begins', async () => {
    const { port } = await listen(createServer());
    const sender = senderWith({ timeout: SHORT });
    expect(await sendTo(at(port), sender)).toMatchObject({ result: 'timeout' });
  });

  test('without TLS', async () => {
    const { port } = await servePlain((_, response) => response.end());
    expect(await sendTo(at(port))).toMatchObject({ result: 'tls_failed' });
  });

  test('that speaks HTTP/2 alone', async () => {
    const { pem } = world;
    const { port } = await listen(createTlsServer({ key: pem, cert: pem, ALPNProtocols: ['h2'] }));
    expect(await sendTo(at(port))).toMatchObject({ result: 'tls_failed' });
  });

  test('that speaks HTTP/2 alone, and does not negotiate it', async () => {
    // The frame SETTINGS, empty.
    const settings = Buffer.from('000000040000000000', 'hex');
    expect(await resultOf((socket) => socket.write(settings))).toEqual(['connection_failed', null]);
  });

  test.each([
    ['another name', 'DNS:other.example.com', 30],
    ['a day that is over', `DNS:${HOST}`, -1],
  ])('with a certificate for %s', async (_, names, days) => {
    const file = await world.authority.issue('/CN=a host', names, days);
    const { port } = await serve(await readFile(file, 'utf8'), (_, response) => response.end());
    expect(await sendTo(at(port))).toMatchObject({ result: 'tls_failed' });
  });

  test('to an address that is refused', async () => {
    const { port, connections } = await serveTrusted((_, response) => response.end());
    const sender = senderWith({ allow: {} });
    expect(await sendTo(at(port), sender)).toMatchObject({
      result: 'address_refused',
      status_code: null,
    });
    expect(connections()).toBe(0);
  });

  test('to the service itself, in the demo', async () => {
    const own = await servePlain((_, response) => response.end());
    const other = await servePlain((_, response) => response.end());
    const sender = senderWith({ allow: { ownOrigin: `http://127.0.0.1:${own.port}` } });
    const results = [own, other].map(async ({ port }) => {
      return (await sendTo(`http://127.0.0.1:${port}/`, sender))?.result;
    });
    expect(await Promise.all(results)).toEqual(['delivered', 'address_refused']);
    expect(other.connections()).toBe(0);
  });
});

describe('a connection is kept open', () => {
  /** How many connections two messages made, one after the other. */
  async function connectionsOfTwo(respond: RequestListener, options: Partial<SenderOptions> = {}) {
    const { port, connections } = await serveTrusted(respond);
    const sender = senderWith(options);
    for (const _ of [1, 2]) {
      expect(await sendTo(at(port), sender)).toMatchObject({ result: 'delivered' });
    }
    return connections();
  }

  test.each<[what: string, expected: number, respond: RequestListener, options?: object]>([
    ['no body', 1, (_, response) => response.end()],
    ['64 KiB', 1, (_, response) => response.end('a'.repeat(65_536))],
    ['more than 64 KiB', 2, (_, response) => response.end('a'.repeat(65_537))],
    [
      'a body that comes later',
      1,
      (_, response) => {
        response.flushHeaders();
        setTimeout(() => response.end('a'), 50);
      },
    ],
    [
      'a body that comes too late',
      2,
      (_, response) => response.flushHeaders(),
      { restTimeout: SHORT },
    ],
    ['Connection: close', 2, (_, response) => response.setHeader('connection', 'close').end()],
  ])('after a response with %s: %i', async (_, expected, respond, options) => {
    expect(await connectionsOfTwo(respond, options)).toBe(expected);
  });

  test('and collects nothing of the messages that went over it', async () => {
    const { port } = await serveTrusted((_, response) => response.end());
    const sender = senderWith();
    const warnings: Error[] = [];
    const warn = (warning: Error) => void warnings.push(warning);
    process.on('warning', warn);
    for (let sent = 0; sent < 15; sent++) await sendTo(at(port), sender);
    await new Promise(setImmediate);
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  test('but not by another sender, which may not go to its address', async () => {
    const { port, connections } = await serveTrusted((_, response) => response.end());
    const results = [{ private: true }, {}, { private: true }].map((allow) =>
      senderWith({ allow }),
    );
    const said = [];
    for (const sender of results) said.push((await sendTo(at(port), sender))?.result);
    expect(said).toEqual(['delivered', 'address_refused', 'delivered']);
    expect(connections()).toBe(2);
  });

  test('until the name leads elsewhere, at the latest: then its new address is checked', async () => {
    const { port } = await serveTrusted((_, response) =>
      response.setHeader('connection', 'close').end(),
    );
    const { resolve } = resolver({ [HOST]: [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']] });
    const sender = senderWith({ resolve });
    const said = [];
    for (const _ of [1, 2, 3]) said.push((await sendTo(at(port), sender))?.result);
    expect(said).toEqual(['delivered', 'address_refused', 'delivered']);
  });

  test('and a message goes by a new one where the receiver has closed it', async () => {
    let requests = 0;
    const used = new WeakSet();
    const { port, connections } = await serveTrusted(({ socket }, response) => {
      requests += 1;
      // As if it had been closed at the very moment in which the message came.
      if (used.has(socket)) return socket.destroy();
      used.add(socket);
      return response.end();
    });
    const sender = senderWith();
    await Promise.all([sendTo(at(port), sender), sendTo(at(port), sender)]);
    expect([requests, connections()]).toEqual([2, 2]);
    expect(await sendTo(at(port), sender)).toMatchObject({ result: 'delivered' });
    // Not by the other one that was kept.
    expect([requests, connections()]).toEqual([4, 3]);
  });

  test('and a receiver that closes the new one, too, has not got the message', async () => {
    let requests = 0;
    const { port } = await serveTrusted(({ socket }, response) => {
      requests += 1;
      return requests === 1 ? response.end() : socket.destroy();
    });
    const sender = senderWith();
    const said = [];
    for (const _ of [1, 2]) said.push((await sendTo(at(port), sender))?.result);
    expect(said).toEqual(['delivered', 'connection_failed']);
    expect(requests).toBe(3);
  });

  test('of which there are 128, whoever the receivers are', async () => {
    const sender = senderWith({ allow: { private: true, http: true } });
    const servers = await Promise.all(
      new Array(16).fill(null).map(() => servePlain((_, response) => response.end())),
    );
    const messages = servers.flatMap(({ port }) =>
      new Array(10).fill(null).map(() => sendTo(plain(port), sender)),
    );
    for (const attempt of await Promise.all(messages)) expect(attempt?.result).toBe('delivered');
    const open = () => servers.reduce((sum, server) => sum + server.open(), 0);
    await expect.poll(open).toBe(128);
    sender.close();
    await expect.poll(open).toBe(0);
  });
});

describe('a shutdown', () => {
  test.each<[when: string, listener: RequestListener]>([
    ['before the headers', () => {}],
    ['in the headers', ({ socket }) => socket.write(OK)],
  ])('%s cuts the try, which is no attempt', async (_, listener) => {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { port } = await serveTrusted((message, response) => {
      listener(message, response);
      begin();
    });
    const shutdown = new AbortController();
    const attempt = sendTo(at(port), senderWith(), shutdown.signal);
    await begun;
    shutdown.abort();
    expect(await attempt).toBeNull();
  });

  test('before the beginning lets nothing begin', async () => {
    const { port, connections } = await serveTrusted((_, response) => response.end());
    expect(await sendTo(at(port), senderWith(), AbortSignal.abort())).toBeNull();
    expect(connections()).toBe(0);
  });

  test('after the headers ends the connection, and keeps the result', async () => {
    const { port, open } = await serveTrusted((_, response) => response.flushHeaders());
    const shutdown = new AbortController();
    const { resolve } = resolver({ [HOST]: [['127.0.0.1']] });
    const sender = senderWith({ resolve });
    const attempt = sendTo(at(port), sender, shutdown.signal);
    await expect.poll(open).toBe(1);
    // Until the headers are there, and the rest is waited for.
    setTimeout(() => shutdown.abort(), 500);
    expect(await attempt).toMatchObject({ result: 'delivered', status_code: 200 });
    await expect.poll(open).toBe(0);
  });
});

describe('Retry-After', () => {
  test.each<[status: number, header: string | undefined, expected: number | null]>([
    [429, '7', 7],
    [503, '7', 7],
    [503, '0', 0],
    [503, '3600', 3600],
    [503, '3601', 3600],
    [503, '9'.repeat(400), 3600],
    [429, 'Fri, 15 Jan 2027 08:00:07 GMT', 7],
    [429, 'Friday, 15-Jan-27 08:00:07 GMT', 7],
    [429, 'Fri Jan 15 08:00:07 2027', 7],
    [429, 'Fri, 15 Jan 2027 07:00:00 GMT', 0],
    [429, 'Sat, 15 Jan 2028 08:00:00 GMT', 3600],
    [503, undefined, null],
    [503, '', null],
    [503, 'soon', null],
    [503, '-1', null],
    [503, '1.5', null],
    [503, '7, 8', null],
    [500, '7', null],
    [200, '7', null],
    [301, '7', null],
  ])('%i with %j: %j', async (status, header, expected) => {
    const { port } = await serveTrusted((_, response) =>
      response.writeHead(status, header === undefined ? {} : { 'retry-after': header }).end(),
    );
    const attempt = await sendTo(at(port));
    expect(attempt?.retry_after_seconds).toBe(expected);
  });
});
