import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type OutboundRequest, request } from '@latchkey/rules/outbound/request';
import { OutboundError } from '@latchkey/rules/outbound/send';
import { createAuthority } from '@latchkey/test-kit/certificates';
import { freePort } from '@latchkey/test-kit/free-port';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorld, listen, resolver, serve, servePlain, type World } from './world.ts';

let world: World;

beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const HOST = 'docs.example.com';

const MAX_BYTES = 1000;

/** Longer than any response takes, for the tests that don't wait for it. */
const LONG = 30_000;

const { resolve: toLoopback } = resolver({ [HOST]: [['127.0.0.1']] });

/** What comes of a request: the status, or the failure. */
async function outcome(url: string, options: Partial<OutboundRequest> = {}) {
  return request(new URL(url), {
    method: 'GET',
    headers: {},
    timeout: LONG,
    maxBytes: MAX_BYTES,
    allow: { private: true, http: false },
    resolve: toLoopback,
    ...options,
  }).then(
    ({ status, body }) => (body === null ? 'too_large' : status),
    (error) => {
      if (error instanceof OutboundError) return error.failure;
      throw error;
    },
  );
}

const serveTrusted = (listener: RequestListener) => serve(world.pem, listener);

const nothing: RequestListener = () => {};
const ok: RequestListener = (_, response) => response.end('ok');

test('a server that chooses a group of DHE gets no handshake', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-dhe-'));
  const file = join(folder, 'pem');
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=a'];
  await promisify(execFile)('openssl', [...words, '-keyout', file, '-out', `${file}.crt`]);
  const server = createTlsServer({
    ...{ key: await readFile(file), cert: await readFile(`${file}.crt`), dhparam: 'auto' },
    ...{ maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256' },
  });
  await rm(folder, { recursive: true });
  const faults: unknown[] = [];
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => faults.push(error.code));
  const { port } = await listen(server);
  expect(await outcome(`https://${HOST}:${port}/`)).toBe('tls_failed');
  expect(faults).toEqual(['ERR_SSL_NO_SHARED_CIPHER']);
});

test('a server of TLS 1.3 that chooses a group of DHE gets no handshake, either', async () => {
  const outcomeWith = async (ecdhCurve: string) => {
    const { port } = await serve(world.pem, ok, { minVersion: 'TLSv1.3', ecdhCurve });
    return outcome(`https://${HOST}:${port}/`);
  };
  for (const group of ['X25519', 'P-256', 'P-384']) expect(await outcomeWith(group)).toBe(200);
  expect(await outcomeWith('ffdhe2048')).toBe('tls_failed');
});

test('a server that shows a hundred certificates gets no handshake', async () => {
  const authority = await readFile(world.authority.file, 'utf8');
  const cert = world.pem + authority.repeat(100);
  const serveWith = async (options: object) => (await serve(world.pem, ok, options)).port;
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const [few, many] = [await serveWith({ maxVersion }), await serveWith({ maxVersion, cert })];
    expect(await outcome(`https://${HOST}:${few}/`)).toBe(200);
    expect(await outcome(`https://${HOST}:${many}/`)).toBe('tls_failed');
  }
});

test('a handshake has the certificates of honest servers, and not much more', async () => {
  const authority = await readFile(world.authority.file, 'utf8');
  const { length } = new X509Certificate(authority).raw;
  const outcomeWith = async (bytes: number) => {
    const cert = world.pem + authority.repeat(Math.floor(bytes / length));
    const { port } = await serve(world.pem, ok, { cert });
    return outcome(`https://${HOST}:${port}/`);
  };
  expect(await outcomeWith(9_000)).toBe(200);
  expect(await outcomeWith(12_500)).toBe('tls_failed');
});

test('a server whose certificates cost much keeps its place for much longer than they cost, until that is taken', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-chain-'));
  const [key, issuer] = [join(folder, 'key'), join(folder, 'issuer')];
  const openssl = (...words: string[]) => promisify(execFile)('openssl', words);
  const curve = (name: string) => ['-pkeyopt', `ec_paramgen_curve:${name}`];
  await openssl('genpkey', '-algorithm', 'EC', ...curve('sect571r1'), '-out', key);
  let chain = '';
  for (let depth = 0; depth < 4; depth += 1) {
    const by = depth === 0 ? [] : ['-CA', issuer, '-CAkey', key];
    await openssl('req', '-x509', '-key', key, '-subj', `/CN=${depth}`, ...by, '-out', issuer);
    chain = (await readFile(issuer, 'utf8')) + chain;
  }
  const own = ['-newkey', 'ec', ...curve('prime256v1'), '-nodes', '-keyout', `${key}-own`];
  const words = ['req', '-x509', ...own, '-subj', '/CN=a', '-CA', issuer, '-CAkey', key];
  const { stdout } = await openssl(...words);
  const pem = (await readFile(`${key}-own`, 'utf8')) + stdout + chain;
  await rm(folder, { recursive: true });

  const { port, connections, open } = await serve(pem, ok);
  const end = new AbortController();
  async function ask() {
    const [began, before] = [performance.now(), connections()];
    const ended = outcome(`https://${HOST}:${port}/`, { signal: end.signal });
    const time = ended.then(() => performance.now() - began);
    while (connections() === before || open() > 0) await sleep(1);
    return { ended, time };
  }
  const before = performance.eventLoopUtilization();
  const first = await ask();
  expect(await first.ended).toBe('tls_failed');
  const whole = await first.time;
  expect(performance.eventLoopUtilization(before).utilization).toBeLessThan(0.2);
  const second = await ask();
  end.abort();
  expect(await second.ended).toBe('tls_failed');
  expect(await second.time).toBeLessThan(whole / 2);
});

test('a server that sends far more below its response than the response has is left', async () => {
  // A record of one byte takes 23. Tickets and new keys are in no response at all, but Node sends none by request.
  const inRecordsOfOne =
    (length: number): RequestListener =>
    async (_, response) => {
      response.writeHead(200, { 'content-length': length });
      response.flushHeaders();
      const { socket } = response;
      for (let sent = 0; sent < length && !socket?.destroyed; sent++) {
        await new Promise<unknown>((done) => socket?.write('x', done));
      }
    };
  const sends = async (length: number) => {
    const { port } = await serveTrusted(inRecordsOfOne(length));
    return outcome(`https://${HOST}:${port}/`, { maxBytes: 10_000 });
  };
  expect(await sends(1_000)).toBe(200);
  expect(await sends(8_000)).toBe('connection_failed');
});

test('a name with thousands of addresses gets few connections', async () => {
  const families = [4, 6] as const;
  const looked = new Set<number>();
  const addresses = Array.from({ length: 3_000 }, (_, index) => ({
    get address() {
      looked.add(index);
      return index % 2 === 0
        ? `127.7.${index >> 8}.${index & 0xff}`
        : `::ffff:127.7.0.${index & 0xff}`;
    },
    family: families[index % 2] as number,
  }));
  const error = await request(new URL(`https://${HOST}:1/`), {
    ...{ method: 'GET', headers: {}, timeout: LONG, maxBytes: MAX_BYTES },
    allow: { private: true, http: false },
    resolve: (_name, _options, found) => setTimeout(() => found(null, addresses)),
  }).catch((reason) => reason);
  expect(error).toMatchObject({ failure: 'connection_failed' });
  expect(error.cause.errors.length).toBeLessThanOrEqual(8);
  expect(looked.size).toBeLessThanOrEqual(8);
});

describe('an address that is not let in', () => {
  const onlyPublic = { allow: { private: false, http: false } };

  test.each([
    'https://127.0.0.1',
    'https://127.1',
    'https://2130706433',
    'https://0x7f000001',
    'https://0x7f.0.0.1',
    'https://0177.0.0.1',
    'https://017700000001',
    'https://127.0.0.1.',
    'https://127。0。0。1',
    'https://①②⑦.0.0.1',
    'https://%31%32%37.0.0.1',
    'https://0',
    'https://[::1]',
    'https://[::]',
    'https://[0:0:0:0:0:0:0:1]',
    'https://[::ffff:127.0.0.1]',
    'https://[::ffff:7f00:1]',
    'https://[::127.0.0.1]',
    'https://[::ffff:0:127.0.0.1]',
    'https://[64:ff9b::127.0.0.1]',
    'https://[64:ff9b:1::7f00:1]',
    'https://[2002:7f00:1::]',
    'https://[2001:0:808:808::80ff:fffe]',
  ])('%s', async (origin) => {
    const { port, connections } = await serveTrusted(ok);
    expect(await outcome(`${origin}:${port}/`, onlyPublic)).toBe('address_refused');
    expect(connections()).toBe(0);
  });

  test.each([
    ['localhost', ['127.0.0.1', '::1']],
    ['localhost.', ['127.0.0.1']],
    ['docs.example.com', ['127.0.0.1']],
    ['docs.example.com', ['::ffff:127.0.0.1']],
    ['docs.example.com', ['10.0.0.1', 'fd00::1']],
  ])('%s, which is at %s', async (name, addresses) => {
    const { port, connections } = await serveTrusted(ok);
    const { resolve } = resolver({ [name]: [addresses] });
    const url = `https://${name}:${port}/`;
    expect(await outcome(url, { ...onlyPublic, resolve })).toBe('address_refused');
    expect(connections()).toBe(0);
  });

  test('http:, unless it is let in', async () => {
    const { port } = await servePlain(ok);
    const url = `http://${HOST}:${port}/`;
    expect(await outcome(url)).toBe('address_refused');
    expect(await outcome(url, { allow: { private: true, http: true } })).toBe(200);
    expect(await outcome(`file:///etc/passwd`)).toBe('address_refused');
  });

  test('one address of a name is refused, and another one is used', async () => {
    const { port } = await serveTrusted(ok);
    const { resolve } = resolver({ [HOST]: [['169.254.169.254', '127.0.0.1']] });
    expect(await outcome(`https://${HOST}:${port}/`, { resolve })).toBe(200);
  });

  test('the address that is checked is the one that is used, at every connection', async () => {
    const { port, connections } = await serveTrusted(ok);
    // A stranger's name server: good once, then at the metadata, then good again.
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1']];
    const { resolve, asked } = resolver({ [HOST]: answers });
    const url = `https://${HOST}:${port}/`;
    expect(await outcome(url, { resolve })).toBe(200);
    expect(await outcome(url, { resolve })).toBe('address_refused');
    expect(connections()).toBe(1);
    expect(asked).toHaveLength(2);
  });
});

describe('a response', () => {
  test('has status, headers and body, and the request arrives as it was given', async () => {
    const { port } = await serveTrusted(async (message, response) => {
      const chunks = await message.toArray();
      response.writeHead(404, {
        'x-method': `${message.method}`,
        'x-a': `${message.headers['x-a']}`,
      });
      response.end(Buffer.concat(chunks));
    });
    const { status, headers, body } = await request(new URL(`https://${HOST}:${port}/`), {
      method: 'POST',
      headers: { 'x-a': 'b' },
      body: 'a body',
      timeout: LONG,
      maxBytes: MAX_BYTES,
      allow: { private: true, http: false },
      resolve: toLoopback,
    });
    expect([status, headers['x-method'], headers['x-a']]).toEqual([404, 'POST', 'b']);
    expect(body?.toString()).toBe('a body');
  });

  test('is a redirect, which nobody follows', async () => {
    const target = await serveTrusted(ok);
    const { port } = await serveTrusted((_, response) =>
      response.writeHead(302, { location: `https://${HOST}:${target.port}/` }).end(),
    );
    expect(await outcome(`https://${HOST}:${port}/`)).toBe(302);
    expect(target.connections()).toBe(0);
  });

  test('stays compressed', async () => {
    const compressed = gzipSync('0'.repeat(1_000_000));
    const { port } = await serveTrusted((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(compressed),
    );
    const { headers, body } = await request(new URL(`https://${HOST}:${port}/`), {
      method: 'GET',
      headers: {},
      timeout: LONG,
      maxBytes: compressed.length,
      allow: { private: true, http: false },
      resolve: toLoopback,
    });
    expect(headers['content-encoding']).toBe('gzip');
    expect(body).toEqual(compressed);
  });
});

const drip: RequestListener = (_, response) => {
  const timer = setInterval(() => response.write('.'), 10);
  response.once('close', () => clearInterval(timer));
};

const flood: RequestListener = (_, response) => {
  const pour = () => {
    while (!response.destroyed && response.write('.'.repeat(1000)));
  };
  response.on('drain', pour);
  pour();
};

test.each<[what: string, listener: RequestListener, expected: unknown, timeout: number]>([
  ['as long as it may be', (_, response) => response.end('.'.repeat(MAX_BYTES)), 200, LONG],
  ['a byte longer', (_, response) => response.end('.'.repeat(MAX_BYTES + 1)), 'too_large', LONG],
  ['endless', flood, 'too_large', LONG],
  ['slow without end', drip, 'timeout', 300],
  ['none', nothing, 'timeout', 300],
  ['cut in its head', (_, response) => response.destroy(), 'connection_failed', LONG],
  [
    'cut in its body',
    (_, response) => {
      response.writeHead(200, { 'content-length': '10' }).write('.');
      setImmediate(() => response.destroy());
    },
    'connection_failed',
    LONG,
  ],
  [
    'headers of more than 16 KiB',
    (_, response) => response.writeHead(200, { 'x-a': '.'.repeat(20_000) }).end(),
    'connection_failed',
    LONG,
  ],
  ['no HTTP', ({ socket }) => socket.end('what?\r\n\r\n'), 'connection_failed', LONG],
  [
    'another protocol',
    ({ socket }) =>
      socket.end('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    'connection_failed',
    LONG,
  ],
])('a response that is %s', async (_, listener, expected, timeout) => {
  const { port } = await serveTrusted(listener);
  expect(await outcome(`https://${HOST}:${port}/`, { timeout })).toBe(expected);
});

describe('a connection', () => {
  test('is refused', async () => {
    expect(await outcome(`https://${HOST}:${await freePort()}/`)).toBe('connection_failed');
  });

  test('to a name without an address', async () => {
    expect(await outcome('https://nowhere.example.com/')).toBe('connection_failed');
  });

  test('to a name whose server does not answer', async () => {
    const resolve = () => {};
    expect(await outcome(`https://${HOST}/`, { resolve, timeout: 300 })).toBe('timeout');
  });

  test('whose TLS never begins', async () => {
    const { port } = await listen(createServer());
    expect(await outcome(`https://${HOST}:${port}/`, { timeout: 300 })).toBe('timeout');
  });

  test('without TLS', async () => {
    const { port } = await servePlain(ok);
    expect(await outcome(`https://${HOST}:${port}/`)).toBe('tls_failed');
  });

  test('with a certificate for another name', async () => {
    const { resolve } = resolver({ 'other.example.com': [['127.0.0.1']] });
    const { port } = await serveTrusted(ok);
    expect(await outcome(`https://other.example.com:${port}/`, { resolve })).toBe('tls_failed');
  });
});

test('the environment does not weaken a connection', async () => {
  const other = await createAuthority(dirname(world.authority.file), 'other');
  const foreign = await readFile(await other.issue('/CN=a host'), 'utf8');
  const trusted = await serveTrusted(ok);
  const untrusted = await serve(foreign, ok);
  const old = await serve(world.pem, ok, {
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT:@SECLEVEL=0',
  });
  const plain = await servePlain(ok);
  const proxy = await servePlain(ok);

  const proxied = Object.fromEntries(
    ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']
      .flatMap((name) => [name, name.toLowerCase()])
      .map((name) => [name, `http://127.0.0.1:${proxy.port}`]),
  );
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      fileURLToPath(new URL('./request-with-environment.ts', import.meta.url)),
      ...[trusted, untrusted, old].map(({ port }) => `https://127.0.0.1:${port}/`),
      `http://localhost:${plain.port}/`,
    ],
    {
      env: {
        ...proxied,
        NODE_USE_ENV_PROXY: '1',
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
        NODE_EXTRA_CA_CERTS: world.authority.file,
        NODE_OPTIONS:
          '--no-network-family-autoselection --tls-min-v1.0 --tls-cipher-list=DEFAULT:@SECLEVEL=0',
      },
    },
  );
  const weak = ['tls_failed', 'tls_failed'];
  const strong = [200, 'delivered'];
  expect(JSON.parse(stdout)).toEqual([strong, weak, weak, strong]);
  expect(proxy.connections()).toBe(0);
});
