import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { CLIENT, type Fault, startFaultyServer } from '../test/faulty-server.ts';
import { type RunOptions, run } from './run.ts';

// Whatever a server does, the run ends with a row that says it.

/** Measures `exchange` and one more row. Returns what they say. */
async function said(options: Partial<RunOptions>): Promise<[string, string | null][]> {
  const report = await run({
    client: CLIENT,
    login: (url, browser) => browser.open(url),
    rows: ['wrong-secret'],
    ...options,
  });
  return report.rows.map(({ verdict, reason }) => [verdict, reason]);
}

const skipped = ['skipped', 'The exchange of a code does not work.'];

const cases: [Fault, RegExp][] = [
  ['the metadata is HTML', /^The server has no metadata \(.*: 200, HTML; .*: 404, HTML\)\. Give/],
  [
    'the metadata is of another issuer',
    /^The metadata is that of another issuer: https:\/\/other\.example\. Pass --issuer exactly/,
  ],
  ['the login loops', /^The login failed: More than 20 redirects\.$/],
  ['the login is a 500', /^The login ended without a code, at \/authorize\.$/],
  ['the token is empty', /^200, JSON of another shape$/],
  ['the token endpoint is silent', /^No response within 2000 ms, at 127\.0\.0\.1:\d+\.$/],
  [
    'the token endpoint echoes the code',
    /^The server refused the code of its own client: 400 no error code\.$/,
  ],
];
test.each(cases)('%s', async (fault, reason) => {
  const server = await startFaultyServer(fault);
  onTestFinished(server.close);
  const isSilent = fault === 'the token endpoint is silent';
  const rows = await said({ issuer: server.url, ...(isSilent && { timeout: 2_000 }) });
  expect(rows).toEqual([['error', expect.stringMatching(reason)], skipped]);
});

/** A server that sends some bytes to everybody, and closes the connection. */
async function startRawServer(bytes: string) {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(bytes));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}

test.each([
  ['', /^The connection was closed without a whole response, at /],
  ['SSH-2.0-OpenSSH\r\n', /^The response is not HTTP, from /],
  [
    `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`,
    /^The headers of the response are too long, at /,
  ],
  ['HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{', /^The connection was closed without a whole/],
  [`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(1_100_000)}`, /^A response of more than 1 MB/],
])('a server that sends %.30j', async (bytes, reason) => {
  const rows = await said({ issuer: await startRawServer(bytes) });
  expect(rows).toEqual([['error', expect.stringMatching(reason)], skipped]);
});

test('a server that is not there', async () => {
  const server = await startFaultyServer();
  await server.close();
  const rows = await said({ issuer: server.url });
  expect(rows).toEqual([['error', expect.stringMatching(/^Nothing listens, at 127/)], skipped]);
});

test('a login that never ends, and one that throws an address with the code', async () => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  const never = () => new Promise<string>(() => undefined);
  expect(await said({ issuer: server.url, login: never, loginTimeout: 50 })).toEqual([
    ['error', 'The login brought no code within 50 ms.'],
    skipped,
  ]);
  const throws = async () => {
    throw new Error('Stopped at https://a.example/callback?code=abcdef&state=1 today');
  };
  expect(await said({ issuer: server.url, login: throws })).toEqual([
    ['error', 'The login failed: Stopped at https://a.example/callback today'],
    skipped,
  ]);
});

test.each([
  ['https://a.example/callback?code=abcdef&state=other', 'with the state of another request'],
  ['http://127.0.0.1:8976/callback?error=access_denied', 'authorization request: access_denied.'],
  ['https://a.example/callback#code=abcdef', 'The login ended without a code, at /callback.'],
  [' \n', 'The login returned nothing.'],
])('a login that returns %j', async (returned, reason) => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  expect(await said({ issuer: server.url, login: async () => returned })).toEqual([
    ['error', expect.stringContaining(reason)],
    skipped,
  ]);
});

test.each([
  { authorization_endpoint: null },
  { authorization_endpoint: '/authorize' },
  { token_endpoint: undefined },
  { token_endpoint: 5 },
  { introspection_endpoint: '' },
  { revocation_endpoint: ['http://127.0.0.1'] },
])('metadata with %j', async (changes) => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  server.publish(changes);
  expect(await said({ issuer: server.url })).toEqual([
    [
      'error',
      expect.stringMatching(/ of the metadata is no whole URL\. |lacks an endpoint\. Give/),
    ],
    skipped,
  ]);
});

test('an endpoint that is null is absent, and one that was given wins', async () => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  server.publish({ introspection_endpoint: null, revocation_endpoint: null, token_endpoint: '' });
  const given = { issuer: server.url, tokenEndpoints: [`${server.url}/token`] };
  expect(await said(given)).toEqual([
    ['pass', null],
    ['pass', null],
  ]);
});

test('an introspection endpoint that was asked for has to answer', async () => {
  const server = await startFaultyServer('introspects for others');
  onTestFinished(server.close);
  const given = { issuer: server.url, introspectionEndpoint: `${server.url}/introspect` };
  expect(await said(given)).toEqual([
    [
      'error',
      expect.stringMatching(/calls a new token inactive\. .* leave --introspection-endpoint/),
    ],
    skipped,
  ]);
});

test('a client with a wrong secret is told where it came from', async () => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  const client = { ...CLIENT, secret: 'a-wrong-secret' };
  expect(await said({ issuer: server.url, client })).toEqual([
    ['error', expect.stringMatching(/: 401 invalid_client\. Is OAUTH_RACE_SECRET right\?$/)],
    skipped,
  ]);
});

test.each([
  [undefined, 'The login returned undefined, not a URL.'],
  [{ code: 'abcdef' }, 'The login returned object, not a URL.'],
])('a login that returns %j instead of a text', async (returned, reason) => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  const login = async () => returned as unknown as string;
  expect(await said({ issuer: server.url, login })).toEqual([['error', reason], skipped]);
});

test('a login that returns one code again and again', async () => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  let first: Promise<string> | undefined;
  const rows = await said({
    issuer: server.url,
    login: (url, browser) => {
      first ??= browser.open(url).then((at) => new URL(at).searchParams.get('code') ?? '');
      return first;
    },
  });
  expect(rows).toEqual([
    ['pass', null],
    ['error', 'The login returned the same code again.'],
  ]);
});

test('three codes without a result end a row', async () => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  let logins = 0;
  const rows = await run({
    issuer: server.url,
    client: CLIENT,
    rows: ['race-pkce'],
    login: async (url, browser) => {
      if (logins++ > 0) throw new Error('no more');
      return browser.open(url);
    },
  });
  expect(rows.rows[1]).toMatchObject({ verdict: 'error', outcomes: { unclear: 3 } });
});
