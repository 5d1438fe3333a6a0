import type { RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type Reason, reasons } from '@latchkey/domain/reasons';
import {
  type AskedBy,
  type ClientDocumentOptions,
  createClientDocuments,
} from '@latchkey/rules/client-documents/client-documents';
import { parseDocumentHosts } from '@latchkey/rules/client-documents/hosts';
import { addressKey } from '@latchkey/rules/limits/limit';
import { createVouchers } from '@latchkey/rules/vouchers';
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
import { createWorld, HOSTS, listen, resolver, serve, type World } from '../outbound/world.ts';

let world: World;
let now: number;

beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  now = 1_800_000_000_000;
});

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const [HOST = ''] = HOSTS;
const { resolve } = resolver(Object.fromEntries(HOSTS.map((host) => [host, [['127.0.0.1']]])));

function documentsOf(setting = HOSTS.join(), options: Partial<ClientDocumentOptions> = {}) {
  const hosts = parseDocumentHosts(setting);
  if (hosts === null) throw new Error('no hosts');
  const documents = createClientDocuments({
    clock: () => now,
    monotonic: () => now,
    hosts,
    vouchers: createVouchers(hosts, 'Example Shop'),
    isOwn: () => false,
    schemes: new Map(),
    userAgent: 'Latchkey/1.2.3',
    allowPrivate: true,
    isOnLoopback: false,
    limitsCallers: true,
    timeout: 30_000,
    patience: 30_000,
    resolve,
    ...options,
  });
  return {
    ...documents,
    find: async (address: string, asked: Partial<AskedBy> = {}) =>
      (await documents.find(address, { caller: 'a', hasApplication: false, ...asked })).document,
  };
}

type Documents = ReturnType<typeof documentsOf>;

/** The name in the document, or what was wrong. */
const outcomeOf = (documents: Documents, address: string, asked: Partial<AskedBy> = {}) =>
  documents.find(address, asked).then(
    ({ name }) => name,
    (error) => `${error.name}: ${error.message} ${reasons[error.fault as Reason]?.found}`,
  );

const least = (address: string) => ({
  client_id: address,
  redirect_uris: ['https://a.example/cb'],
});

function sendDocument(response: ServerResponse, address: string, members: object = {}) {
  const body = JSON.stringify({ ...least(address), ...members });
  response.setHeader('content-type', 'application/json').end(body);
}

/** A server whose response the test changes. It counts the requests. */
async function serveDocument(first: (response: ServerResponse, address: string) => unknown) {
  const server = { respond: first, requests: 0, address: '' };
  const { port } = await serve(world.pem, (_, response) => {
    server.requests += 1;
    server.respond(response, server.address);
  });
  server.address = `https://${HOST}:${port}/client.json`;
  return server;
}

describe('a fetch', () => {
  test('says what it is, and what it wants', async () => {
    let headers: unknown;
    const { port } = await serve(world.pem, (request, response) => {
      ({ headers } = request);
      sendDocument(response, `https://${HOST}:${port}/a`);
    });
    expect(await outcomeOf(documentsOf(), `https://${HOST}:${port}/a`)).toBe(HOST);
    expect(headers).toMatchObject({ accept: 'application/json', 'user-agent': 'Latchkey/1.2.3' });
  });

  const json = 'application/json';
  const padded = (address: string, length: number) => {
    const body = JSON.stringify(least(address));
    return body + ' '.repeat(length - body.length);
  };

  test.each<
    [
      what: string,
      respond: (response: ServerResponse, address: string) => unknown,
      expected: RegExp,
    ]
  >([
    ['10 KiB', (r, a) => r.setHeader('content-type', json).end(padded(a, 10_240)), /^docs/],
    [
      '10 KiB and a byte',
      (r, a) => r.setHeader('content-type', json).end(padded(a, 10_241)),
      /large/,
    ],
    [
      'another JSON type',
      (r, a) =>
        r.setHeader('content-type', 'application/cimd+json; charset=utf-8').end(padded(a, 900)),
      /^docs/,
    ],
    [
      'HTML',
      (r, a) => r.setHeader('content-type', 'text/html').end(padded(a, 900)),
      /Content-Type/,
    ],
    [
      'a JSON of texts',
      (r, a) => r.setHeader('content-type', 'text/json').end(padded(a, 900)),
      /Content-Type/,
    ],
    [
      'a type that begins like JSON',
      (r, a) => r.setHeader('content-type', 'application/jsonp').end(padded(a, 900)),
      /Content-Type/,
    ],
    ['no type', (r, a) => r.end(padded(a, 900)), /Content-Type/],
    [
      'a compressed body',
      (r, a) =>
        r
          .writeHead(200, { 'content-type': json, 'content-encoding': 'gzip' })
          .end(gzipSync(padded(a, 900))),
      /Content-Encoding/,
    ],
    [
      'an encoding that changes nothing',
      (r, a) =>
        r
          .writeHead(200, { 'content-type': json, 'content-encoding': 'identity' })
          .end(padded(a, 900)),
      /Content-Encoding/,
    ],
    ['201', (r, a) => r.writeHead(201, { 'content-type': json }).end(padded(a, 900)), /status/],
    ['a redirect to itself', (r, a) => r.writeHead(301, { location: a }).end(), /status/],
    ['404', (r) => r.writeHead(404).end(), /status/],
    ['a document of another address', (r, a) => sendDocument(r, `${a}x`), /client_id/],
  ])('of %s', async (_, respond, expected) => {
    const { address } = await serveDocument(respond);
    expect(await outcomeOf(documentsOf(), address)).toMatch(expected);
  });

  test('that takes too long', async () => {
    const server = await serveDocument((response) => response.write(' '));
    expect(await outcomeOf(documentsOf(HOST, { timeout: 300 }), server.address)).toMatch(
      /document_late/,
    );
  });
});

test('addresses of other hosts are refused without a fetch', () => {
  const documents = documentsOf('docs.example.com,*.example.net');
  expect(documents.isTaken('https://docs.example.com/a')).toBe(true);
  expect(documents.isTaken('https://a.example.net/a')).toBe(true);
  expect(documents.isTaken('https://keys.example.org/a')).toBe(false);
  expect(documents.isWritten('https://docs.example.com/a')).toBe(true);
  expect(documents.isWritten('https://docs.example.com/')).toBe(false);
});

test('private addresses are let in for hosts that the setting names, and on a loopback host', async () => {
  const { address } = await serveDocument(sendDocument);
  expect(await outcomeOf(documentsOf(HOST), address)).toBe(HOST);
  const refused = /no address that this service connects to/;
  expect(await outcomeOf(documentsOf(HOST, { allowPrivate: false }), address)).toMatch(refused);
  expect(await outcomeOf(documentsOf('any'), address)).toMatch(refused);
  expect(await outcomeOf(documentsOf('*.example.com'), address)).toMatch(refused);
  expect(await outcomeOf(documentsOf('any', { isOnLoopback: true }), address)).toBe(HOST);
});

test('a document that was fetched is read once', async () => {
  const { address } = await serveDocument(sendDocument);
  const read = vi.spyOn(TextDecoder.prototype, 'decode');
  onTestFinished(() => read.mockRestore());
  await documentsOf().find(address);
  expect(read).toHaveBeenCalledOnce();
});

test('a document of one address is not that of another spelling', async () => {
  const server = await serveDocument(sendDocument);
  const documents = documentsOf();
  expect(await outcomeOf(documents, server.address)).toBe(HOST);
  expect(await outcomeOf(documents, `${server.address}/`)).toMatch(/client_id/);
  expect(server.requests).toBe(2);
});

describe('a document is kept', () => {
  test.each<[cacheControl: string | null, kept: number]>([
    [null, HOUR],
    ['no-store', HOUR],
    ['max-age=0', 5 * MINUTE],
    ['max-age=60', 5 * MINUTE],
    ['public, max-age=1200, must-revalidate', 20 * MINUTE],
    ['public,Max-Age=1200', 20 * MINUTE],
    ['s-maxage=1200', HOUR],
    ['max-age=9999999', DAY],
    ['max-age=-1', HOUR],
  ])('with Cache-Control %s', async (cacheControl, kept) => {
    const server = await serveDocument((response, address) => {
      if (cacheControl !== null) response.setHeader('cache-control', cacheControl);
      sendDocument(response, address);
    });
    const documents = documentsOf();
    await documents.find(server.address);
    now += kept - 1;
    await documents.find(server.address);
    expect(server.requests).toBe(1);
    now += 1;
    await documents.find(server.address);
    expect(server.requests).toBe(2);
  });

  const unreachable: [what: string, respond: (response: ServerResponse) => unknown][] = [
    ['no connection', (response) => response.destroy()],
    ['429', (response) => response.writeHead(429).end()],
    ['404', (response) => response.writeHead(404).end()],
    ['403', (response) => response.writeHead(403).end('x'.repeat(20_000))],
    ['302', (response) => response.writeHead(302, { location: 'https://a.example/' }).end()],
    ['no JSON', (response) => response.setHeader('content-type', 'application/json').end('<')],
    ['a list', (response) => response.setHeader('content-type', 'application/json').end('[]')],
    ['another type', (response) => response.setHeader('content-type', 'text/html').end('{}')],
    [
      'a large page, compressed',
      (response) =>
        response
          .writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
          .end('x'.repeat(20_000)),
    ],
    ['500', (response) => response.writeHead(500).end()],
    ['503', (response) => response.writeHead(503).end()],
  ];
  test.each(unreachable)('a day longer while its server has %s', async (_, respond) => {
    const server = await serveDocument(sendDocument);
    const documents = documentsOf();
    await documents.find(server.address);
    server.respond = respond;
    now += HOUR + DAY - 1;
    expect(await outcomeOf(documents, server.address)).toBe(HOST);
    expect(server.requests).toBe(2);
    now += 1;
    expect(await outcomeOf(documents, server.address)).toMatch(/^DocumentFailure/);
  });

  test.each<[what: string, respond: (response: ServerResponse, address: string) => unknown]>([
    ['410', (response) => response.writeHead(410).end()],
    [
      'a bad document',
      (response, address) => sendDocument(response, address, { client_secret: 'x' }),
    ],
    [
      'a compressed document',
      (response) =>
        response
          .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
          .end(gzipSync('{}')),
    ],
    [
      'a large document',
      (response, address) => sendDocument(response, address, { x: 'x'.repeat(20_000) }),
    ],
  ])('not after its time once its server says %s', async (_, respond) => {
    const server = await serveDocument(sendDocument);
    const documents = documentsOf();
    await documents.find(server.address);
    server.respond = respond;
    now += HOUR;
    expect(await outcomeOf(documents, server.address)).toMatch(/^DocumentFailure/);
    // Nor while it can't be reached after that.
    server.respond = (response) => response.destroy();
    now += 5 * SECOND;
    expect(await outcomeOf(documents, server.address)).toMatch(
      /^DocumentFailure: document_connection_failed/,
    );
  });

  test('not after its time once its name leads to an address that is refused', async () => {
    const answers = { [HOST]: [['127.0.0.1'], ['169.254.169.254']] };
    const documents = documentsOf(HOST, { resolve: resolver(answers).resolve });
    const { address } = await serveDocument(sendDocument);
    await documents.find(address);
    now += HOUR;
    expect(await outcomeOf(documents, address)).toMatch(/document_address_refused/);
    expect(documents.results()).toEqual({ good: 1, temporary: 0, final: 1, no_place: 0, kept: 0 });
  });

  test('and changes when it is fetched again', async () => {
    const server = await serveDocument(sendDocument);
    const documents = documentsOf();
    await documents.find(server.address);
    server.respond = (response, address) => sendDocument(response, address, { client_name: 'New' });
    expect(await outcomeOf(documents, server.address)).toBe(HOST);
    now += HOUR;
    expect(await outcomeOf(documents, server.address)).toBe('New');
  });
});

describe('an address that fails', () => {
  const fail = (response: ServerResponse) => response.writeHead(404).end();

  test('is fetched once in 5 s, and the last failure answers meanwhile', async () => {
    const server = await serveDocument(fail);
    const documents = documentsOf();
    await outcomeOf(documents, server.address);
    server.respond = sendDocument;
    now += 5 * SECOND - 1;
    expect(await outcomeOf(documents, server.address)).toMatch(/status/);
    expect(server.requests).toBe(1);
    now += 1;
    expect(await outcomeOf(documents, server.address)).toBe(HOST);
  });

  test('is fetched 10 times a minute', async () => {
    const server = await serveDocument(fail);
    const documents = documentsOf();
    for (let time = 0; time < 12; time += 1) {
      expect(await outcomeOf(documents, server.address)).toMatch(/status/);
      if (time < 11) now += 5 * SECOND;
    }
    expect(server.requests).toBe(10);
    now += 5 * SECOND;
    await outcomeOf(documents, server.address);
    expect(server.requests).toBe(11);
  });
});

test('made-up paths push no good document out, and a host that fails is left alone', async () => {
  const asked: Record<string, number> = {};
  const { port } = await serve(world.pem, ({ url = '' }, response) => {
    asked[url] = (asked[url] ?? 0) + 1;
    if (url.includes('made-up')) response.writeHead(404).end();
    else sendDocument(response, `https://${HOST}:${port}${url}`);
  });
  const addressOf = (path: string) => `https://${HOST}:${port}/${path}`;
  const documents = documentsOf('any', { isOnLoopback: true });
  const kept = ['stranger', 'known'].map(addressOf);
  const hasApplication = (address: string) => ({ hasApplication: address === kept[1] });
  for (const address of kept) {
    expect(await outcomeOf(documents, address, hasApplication(address))).toBe(HOST);
  }
  const outcomes = new Set<unknown>();
  for (let path = 0; path <= 1_000; path += 1) {
    outcomes.add(await outcomeOf(documents, addressOf(`made-up/${path}`)));
  }
  expect([...outcomes]).toEqual([
    expect.stringMatching(/document_status/),
    expect.stringMatching(/^HostFailing/),
  ]);
  expect(Object.keys(asked)).toHaveLength(2 + 20);
  for (const address of kept) {
    expect(await outcomeOf(documents, address, hasApplication(address))).toBe(HOST);
  }
  expect([asked['/stranger'], asked['/known']]).toEqual([1, 1]);
  // A known address is fetched whatever others did to its host, and so is one that the setting names.
  const other = { hasApplication: true };
  expect(await outcomeOf(documents, addressOf('another'), other)).toBe(HOST);
  now += MINUTE;
  expect(await outcomeOf(documents, addressOf('made-up/last'))).toMatch(/document_status/);
});

describe('at once', () => {
  /** A server that answers when the test says so. */
  async function serveHeld(host: string) {
    const held: (() => void)[] = [];
    const listener: RequestListener = (request, response) => {
      held.push(() => sendDocument(response, `https://${host}:${server.port}${request.url}`));
    };
    const server = await serve(world.pem, listener);
    return {
      held,
      addressOf: (path: number) => `https://${host}:${server.port}/${path}`,
      async arrived(count: number) {
        while (held.length < count) await turn();
      },
    };
  }

  test('there is one fetch of an address', async () => {
    const server = await serveHeld(HOST);
    const documents = documentsOf();
    const all = Promise.all([1, 1, 1].map((path) => documents.find(server.addressOf(path))));
    await server.arrived(1);
    server.held[0]?.();
    expect(new Set(await all).size).toBe(1);
    expect(server.held).toHaveLength(1);
  });

  test('there are 2 of a host, and the next begins when one ends', async () => {
    const server = await serveHeld(HOST);
    const documents = documentsOf(HOSTS.join(), { limitsCallers: false });
    const all = [1, 2, 3].map((path) => documents.find(server.addressOf(path)));
    await server.arrived(2);
    // Another host has places of its own: when it has been asked, the third would have been, too.
    const other = await serveHeld('keys.example.org');
    const one = documents.find(other.addressOf(1));
    await other.arrived(1);
    expect(server.held).toHaveLength(2);
    server.held[0]?.();
    await server.arrived(3);
    for (const send of [...server.held.slice(1), ...other.held]) send();
    await Promise.all([...all, one]);
  });

  test('one caller takes no place of another, and is refused beyond 2 that run and 2 that wait', async () => {
    const slow = await Promise.all(HOSTS.map(serveHeld));
    const documents = documentsOf('any', { isOnLoopback: true });
    const all = slow.map((server) => documents.find(server.addressOf(1)));
    await Promise.all(slow.slice(0, 2).map((server) => server.arrived(1)));
    expect(await outcomeOf(documents, `https://${HOST}:1/a`)).toMatch(/^NoPlace/);
    expect(documents.load().documents).toEqual({ running: 2, waiting: 2 });
    // What is running already takes no place.
    const joined = documents.find(slow[0]?.addressOf(1) ?? '');
    const { port } = await serve(world.pem, ({ url }, response) =>
      sendDocument(response, `https://${HOST}:${port}${url}`),
    );
    const others = Array.from({ length: 13 }, (_, index) =>
      outcomeOf(documents, `https://${HOST}:${port}/${index}`, { caller: `192.0.2.${index}` }),
    );
    expect(new Set(await Promise.all(others))).toEqual(new Set([HOST]));
    for (const server of slow) {
      await server.arrived(1);
      server.held[0]?.();
    }
    await Promise.all([...all, joined]);
    expect(documents.results()).toEqual({ good: 17, temporary: 0, final: 0, no_place: 1, kept: 0 });
  });

  test('one site takes no place of another, for documents and for keys', async () => {
    const slow = await Promise.all(HOSTS.map(serveHeld));
    const documents = documentsOf(HOSTS.join());
    const callerOf = (index: number) => addressKey(`2001:db8:1:${index}::1`);
    const rest = { method: 'private_key_jwt', signing_alg: null } as const;
    const keysOf = (uri: string, caller: string) =>
      documents.keysOf({ uri, jwks_uri: uri, ...rest }, caller).find();
    const all = slow
      .flatMap((server, index) => [
        documents.find(server.addressOf(1), { caller: callerOf(index) }),
        keysOf(server.addressOf(2), callerOf(index)),
      ])
      .map((found: Promise<unknown>) => found.catch(() => null));
    const half = { running: 2, waiting: slow.length - 2 };
    expect(documents.load()).toEqual({ documents: half, keys: half });
    for (const server of slow) {
      await server.arrived(2);
      for (const send of server.held) send();
    }
    await Promise.all(all);
  });

  test('who finds no place for a document has the one that the operator vouches for, also after its time', async () => {
    const slow = await Promise.all([1, 2].map(() => serveHeld(HOST)));
    const documents = documentsOf(`${HOST},any`, { isOnLoopback: true, patience: 300 });
    const { port } = await serve(world.pem, ({ url, headers }, response) =>
      sendDocument(response, `https://${headers.host}${url}`),
    );
    const [vouched, other] = [HOST, 'keys.example.org'].map((host) => `https://${host}:${port}/a`);
    for (const address of [vouched, other]) await documents.find(address ?? '');
    now += HOUR;
    const all = slow.map((server) => documents.find(server.addressOf(1)));
    for (const server of slow) await server.arrived(1);
    expect(await outcomeOf(documents, vouched ?? '')).toBe(HOST);
    expect(await outcomeOf(documents, other ?? '')).toMatch(/^NoPlace/);
    for (const send of slow.flatMap(({ held }) => held)) send();
    await Promise.all(all);
  });

  test('hosts that never answer, of many callers, hold up no other document and no other keys', async () => {
    const silent = Array.from({ length: 8 }, (_, index) => `silent-${index}.example.com`);
    const { port: silentPort } = await listen(createServer());
    const { port } = await serve(world.pem, ({ url, headers }, response) =>
      sendDocument(response, `https://${headers.host}${url}`, { keys: [] }),
    );
    const documents = documentsOf('any', {
      ...{ isOnLoopback: true, timeout: 2_500, patience: 2_000 },
      resolve: resolver(
        Object.fromEntries([HOST, ...silent].map((host) => [host, [['127.0.0.1']]])),
      ).resolve,
    });
    const keysOf = (jwks_uri: string, caller: string) =>
      documents
        .keysOf(
          { uri: `https://${HOST}/a`, jwks_uri, method: 'private_key_jwt', signing_alg: null },
          caller,
        )
        .find();
    const all = silent.flatMap((host, index) => {
      const [address, caller] = [`https://${host}:${silentPort}/a`, `192.0.2.${index}`];
      const document = documents.find(address, { caller });
      return index < 3 ? [document, keysOf(address, caller)] : [document];
    });
    for (const one of all) one.catch(() => {});
    const caller = '198.51.100.1';
    const honest = [
      outcomeOf(documents, `https://${HOST}:${port}/a`, { caller }),
      keysOf(`https://${HOST}:${port}/keys`, caller),
    ];
    expect(await Promise.all<unknown>(honest)).toEqual([HOST, []]);
  });

  test('keys have places of their own', async () => {
    const slow = await Promise.all(HOSTS.map(serveHeld));
    const documents = documentsOf(HOSTS.join(), { limitsCallers: false });
    const all = slow.flatMap((server) =>
      [1, 2].map((path) => documents.find(server.addressOf(path))),
    );
    for (const server of slow) await server.arrived(2);
    const { port } = await serve(world.pem, (_, response) =>
      response.setHeader('content-type', 'application/json').end('{"keys":[]}'),
    );
    const client = (jwks_uri: string) => ({
      ...{ uri: 'https://docs.example.com/a', jwks_uri },
      ...{ method: 'private_key_jwt' as const, signing_alg: null },
    });
    const keys = documents.keysOf(client(`https://${HOST}:${port}/keys`), '192.0.2.1');
    expect(await keys.find()).toEqual([]);
    for (const send of slow.flatMap(({ held }) => held)) send();
    await Promise.all(all);
  });

  test('applications of strangers leave places for the keys of clients that the operator vouches for', async () => {
    const slow = await Promise.all(HOSTS.map(serveHeld));
    const uri = 'https://vouched.example.com/client.json';
    const documents = documentsOf(`any,${uri}`, { isOnLoopback: true });
    const rest = { method: 'private_key_jwt', signing_alg: null } as const;
    const all = slow.map((server, index) => {
      const client = { uri: `https://${HOST}/${index}`, jwks_uri: server.addressOf(index) };
      return documents
        .keysOf({ ...client, ...rest }, `192.0.2.${index}`)
        .find()
        .catch(() => null);
    });
    expect(documents.load().keys).toEqual({ running: 3, waiting: slow.length - 3 });
    // The client, and not the host of its keys.
    const jwks_uri = 'https://elsewhere.example.com:1/keys';
    const keys = documents
      .keysOf({ uri, jwks_uri, ...rest }, '192.0.2.99')
      .find()
      .catch(() => null);
    expect(documents.load().keys).toEqual({ running: 4, waiting: slow.length - 3 });
    for (const server of slow) {
      await server.arrived(1);
      server.held[0]?.();
    }
    await Promise.all([...all, keys]);
  });

  test('the name of a key server without a dot is not looked up for a stranger', async () => {
    const { resolve, asked } = resolver({ intranet: [['192.0.2.1']] });
    const documents = documentsOf('any', { resolve });
    const client = { uri: `https://${HOST}/a`, jwks_uri: 'https://intranet/keys' };
    const rest = { method: 'private_key_jwt', signing_alg: null } as const;
    const keys = documents.keysOf({ ...client, ...rest }, '192.0.2.1');
    await expect(keys.find()).rejects.toMatchObject({ fault: 'document_address_refused' });
    expect(asked).toEqual([]);
  });

  test.each([
    ['any', ['a.example.']],
    ['a.example', ['a.example']],
  ])('with %s, its name is asked for as %s', async (hosts, expected) => {
    const { resolve, asked } = resolver({});
    await outcomeOf(documentsOf(hosts, { resolve }), 'https://a.example/client');
    expect(asked).toEqual(expected);
  });

  test('one caller has two fetches of keys, however many clients it made', async () => {
    const slow = await Promise.all(HOSTS.map(serveHeld));
    const documents = documentsOf(HOSTS.join());
    const keysOf = (address: string, caller: string) =>
      documents.keysOf(
        { uri: address, jwks_uri: address, method: 'private_key_jwt', signing_alg: null },
        caller,
      );
    const all = slow.map((server) => keysOf(server.addressOf(1), '192.0.2.1').find());
    for (const one of all) one.catch(() => {});
    await slow[0]?.arrived(1);
    await slow[1]?.arrived(1);
    const { port } = await serve(world.pem, (_, response) =>
      response.setHeader('content-type', 'application/json').end('{"keys":[]}'),
    );
    const honest = `https://${HOST}:${port}/keys`;
    expect(await keysOf(honest, '192.0.2.2').find()).toEqual([]);
    expect(slow.map(({ held }) => held.length)).toEqual([1, 1, 0, 0].slice(0, slow.length));
    for (const server of slow) {
      await server.arrived(1);
      server.held[0]?.();
    }
    await Promise.allSettled(all);
  });

  test('who finds no place for keys has those that are kept, also after their time', async () => {
    let now = 0;
    const slow = await Promise.all(HOSTS.slice(0, 2).map(serveHeld));
    const documents = documentsOf(HOSTS.join(), { clock: () => now, patience: 300 });
    const keysOf = (address: string, caller: string) =>
      documents.keysOf(
        { uri: address, jwks_uri: address, method: 'private_key_jwt', signing_alg: null },
        caller,
      );
    const { port } = await serve(world.pem, (_, response) =>
      response.setHeader('content-type', 'application/json').end('{"keys":[]}'),
    );
    const honest = keysOf(`https://${HOST}:${port}/keys`, '192.0.2.9');
    expect(await honest.find()).toEqual([]);
    now += 3_601_000;
    const all = slow.flatMap((server, index) =>
      [1, 2].map((path) => keysOf(server.addressOf(path), `192.0.2.${index}`).find()),
    );
    for (const one of all) one.catch(() => {});
    for (const server of slow) await server.arrived(2);
    expect(await honest.find()).toEqual([]);
    for (const send of slow.flatMap(({ held }) => held)) send();
    await Promise.allSettled(all);
  });

  test('who finds no place in time is told so, and it is no failure of the address', async () => {
    const server = await serveHeld(HOST);
    const documents = documentsOf(HOST, { patience: 300 });
    const all = [1, 2].map((path) => documents.find(server.addressOf(path)));
    await server.arrived(2);
    expect(await outcomeOf(documents, server.addressOf(3))).toMatch(/^NoPlace/);
    for (const send of server.held) send();
    await Promise.all(all);
    const third = documents.find(server.addressOf(3));
    await server.arrived(3);
    server.held[2]?.();
    expect((await third).uri).toBe(server.addressOf(3));
  });
});
