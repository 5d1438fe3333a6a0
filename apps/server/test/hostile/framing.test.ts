import { expect, test } from 'vitest';
import { sqliteDatabase } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { headerOf, RawConnection } from '../http/raw-connection.ts';
import { useServer } from '../http/running-server.ts';

// Requests whose end is ambiguous: a proxy in front could read them differently. Each is followed by
// another request, which converts a code. Either both are refused, or the second is handled as a
// request of its own.

const BODY = '{"code":"x"}';
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
/** The parts of a request: lines for its headers, and its body. */
type Shape = [name: string, headers: string, body: string];

const lengths = ['+12', '-12', '0xc', '12 12', '12.0', '', '99999999999999999999', '1e1', '12,12'];
const codings = [
  'chunked, identity',
  'chunked, chunked',
  'xchunked',
  'identity',
  'gzip',
  '\x0bchunked',
];
const sizes = ['0xc', '+c', '-c', 'c ', 'c ;x', '', 'FFFFFFFFFFFFFFFFF', 'c;x\nc', '\u0661'];

const refused: Shape[] = [
  ['a length and chunks', 'Content-Length: 12\r\nTransfer-Encoding: chunked\r\n', chunked(BODY)],
  ['chunks and a length', 'Transfer-Encoding: chunked\r\nContent-Length: 12\r\n', chunked(BODY)],
  [
    'a zero length and chunks',
    'Content-Length: 0\r\nTransfer-Encoding: chunked\r\n',
    chunked(BODY),
  ],
  ['two lengths', 'Content-Length: 12\r\nContent-Length: 0\r\n', BODY],
  ['one length twice', 'Content-Length: 12\r\nContent-Length: 12\r\n', BODY],
  ...lengths.map((value): Shape => [`the length "${value}"`, `Content-Length: ${value}\r\n`, BODY]),
  ...codings.map(
    (value): Shape => [`the coding "${value}"`, `Transfer-Encoding: ${value}\r\n`, chunked(BODY)],
  ),
  [
    'chunks, then identity',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
    chunked(BODY),
  ],
  ['a folded coding', 'Transfer-Encoding:\r\n chunked\r\n', chunked(BODY)],
  ['a folded header', 'X: a\r\n b\r\nContent-Length: 12\r\n', BODY],
  ['a folded first header', ' X: a\r\nContent-Length: 12\r\n', BODY],
  ['a space before the colon', 'Content-Length : 12\r\n', BODY],
  ['a tab before the colon', 'Transfer-Encoding\t: chunked\r\n', chunked(BODY)],
  ['a line that ends in LF', 'X: a\nContent-Length: 12\r\n', BODY],
  ['a CR in a value', 'X: a\rContent-Length: 0\r\nContent-Length: 12\r\n', BODY],
  ['a NUL in a value', 'X: a\0\r\nContent-Length: 12\r\n', BODY],
  ['a NUL in a name', 'X\0: a\r\nContent-Length: 12\r\n', BODY],
  ['a space in a name', 'X Y: a\r\nContent-Length: 12\r\n', BODY],
  ['a line without a colon', 'Content-Length\r\nContent-Length: 12\r\n', BODY],
  ['an empty name', ': a\r\nContent-Length: 12\r\n', BODY],
  ['a second Host', 'Host: y\r\nContent-Length: 12\r\n', BODY],
  ...sizes.map(
    (size): Shape => [
      `the chunk size "${size}"`,
      'Transfer-Encoding: chunked\r\n',
      `${size}\r\n${BODY}\r\n0\r\n\r\n`,
    ],
  ),
  ['a chunk size that ends in LF', 'Transfer-Encoding: chunked\r\n', `c\n${BODY}\r\n0\r\n\r\n`],
  ['a chunk longer than its size', 'Transfer-Encoding: chunked\r\n', `b\r\n${BODY}\r\n0\r\n\r\n`],
  ['a chunk that ends in LF', 'Transfer-Encoding: chunked\r\n', `c\r\n${BODY}\n0\r\n\r\n`],
  ['an endless extension', 'Transfer-Encoding: chunked\r\n', `c;${'x'.repeat(20_000)}\r\n${BODY}`],
  [
    'a length in the trailers',
    'Transfer-Encoding: chunked\r\n',
    `c\r\n${BODY}\r\n0\r\nContent-Length: 9\r\n\r\n`,
  ],
  [
    'endless trailers',
    'Transfer-Encoding: chunked\r\n',
    `c\r\n${BODY}\r\n0\r\n${'X: y\r\n'.repeat(4_000)}\r\n`,
  ],
  ['a header section of 20 KB', `X: ${'x'.repeat(20_000)}\r\nContent-Length: 12\r\n`, BODY],
];

const accepted: Shape[] = [
  ['a length', 'Content-Length: 12\r\n', BODY],
  ['a length with a zero', 'Content-Length: 012\r\n', BODY],
  ['chunks', 'Transfer-Encoding: Chunked\r\n', chunked(BODY)],
  [
    'chunks of one byte',
    'Transfer-Encoding: chunked\r\n',
    [...BODY, ''].map((c) => `${c.length}\r\n${c}\r\n`).join(''),
  ],
  [
    'a chunk with an extension',
    'Transfer-Encoding: chunked\r\n',
    `00c;a="b"\r\n${BODY}\r\n0\r\n\r\n`,
  ],
  ['trailers', 'Transfer-Encoding: chunked\r\n', `C\r\n${BODY}\r\n0\r\nX-Request-Id: z\r\n\r\n`],
];

const server = useServer(sqliteDatabase);

/** An ambiguous request and the one that follows it. `BEARER` stands for valid credentials. */
async function requests(head: string, body: string) {
  const linked = await linkedApplication(server);
  const { code } = await linked.issue();
  const convert = JSON.stringify({ code });
  const post = (lines: string) =>
    `POST /oauth/convert HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${lines}`;
  const authorization = `Authorization: ${linked.bearer}\r\n`;
  return {
    connection: new RawConnection(server),
    first: `${head.replace('POST\r\n', post(''))}\r\n${body}`.replace('BEARER\r\n', authorization),
    second: `${post(authorization)}Content-Length: ${convert.length}\r\n\r\n${convert}`,
    /** Expects that the code of the second request can still be converted. */
    expectUnused: async () => expect(await linked.convert(code)).toMatchObject({ revoked: false }),
  };
}

/** Sends both requests in one write. */
async function sendBoth(head: string, body: string) {
  const { connection, first, second, expectUnused } = await requests(head, body);
  connection.socket.write(first + second);
  return { connection, expectUnused };
}

test.each(refused)('%s: refused with the request that follows', async (_, headers, body) => {
  const { connection, expectUnused } = await sendBoth(`POST\r\nBEARER\r\n${headers}`, body);
  const { status, lines } = await connection.response();
  expect([400, 413, 431]).toContain(status);
  expect(headerOf(lines, 'Connection')).toBe('close');
  await connection.closed();
  await expect(connection.response()).rejects.toThrow('The connection ended');
  await expectUnused();
});

test.each(accepted)('%s: accepted, and then the request that follows', async (_, headers, body) => {
  const { connection } = await sendBoth(`POST\r\nBEARER\r\n${headers}`, body);
  const first = await connection.response();
  expect([first.status, JSON.parse(first.body).error_code]).toEqual([400, 'code_not_found']);
  const second = await connection.response();
  expect([second.status, JSON.parse(second.body).object]).toEqual([200, 'oauth_grant']);
  connection.end();
});

test('a credential in the trailers does not count', async () => {
  const { connection } = await sendBoth(
    'POST\r\nTransfer-Encoding: chunked\r\n',
    `c\r\n${BODY}\r\n0\r\nBEARER\r\n\r\n`,
  );
  expect((await connection.response()).status).toBe(401);
  connection.end();
});

// Their responses would be lost (RFC 9112, section 9.6).
test('after a response that did not wait for the whole body, nothing is accepted', async () => {
  const { connection, first, second, expectUnused } = await requests(
    'POST\r\nTransfer-Encoding: chunked\r\n',
    `c\r\n${BODY}\r\n`,
  );
  connection.socket.write(first);
  const { status, lines } = await connection.response();
  expect([status, headerOf(lines, 'Connection')]).toEqual([401, 'close']);
  connection.socket.write(`0\r\n\r\n${second}`);
  await connection.closed();
  await expectUnused();
});

test.each([
  ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n', ''],
  ['no Host', 'GET /healthz HTTP/1.1\r\n', ''],
  ['Connection: close', 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n', ''],
  ['HTTP/1.0', 'GET /healthz HTTP/1.0\r\n', ''],
])('%s: what follows the last response is not accepted', async (_, head, body) => {
  const { connection, expectUnused } = await sendBoth(head, body);
  expect(headerOf((await connection.response()).lines, 'Connection')).toBe('close');
  await connection.closed();
  await expectUnused();
});

test('a body that is cut short is not used', async () => {
  const linked = await linkedApplication(server);
  const { code } = await linked.issue();
  const body = JSON.stringify({ code });
  const connection = new RawConnection(server);
  connection.request(
    [
      'POST /oauth/convert HTTP/1.1',
      'Host: x',
      `Authorization: ${linked.bearer}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length + 1}`,
    ],
    body,
  );
  connection.socket.end();
  await connection.closed();
  expect(await linked.convert(code)).toMatchObject({ revoked: false });
});

test.each([
  ['OPTIONS *', 404],
  ['GET *', 404],
  ['GET /healthz#fragment', 404],
  ['GET /healthz%00', 404],
  ['GET /healthz/../readyz', 404],
  ['GET ftp://x/healthz', 404],
  ['GET http://', 404],
  ['GET http://user:password@x:99999/healthz?a#b', 200],
  [`GET /${'x'.repeat(8_000)}`, 404],
  [`GET /${'x'.repeat(20_000)}`, 431],
  ['GET \\healthz', 400],
  ['GET healthz', 400],
  ['GET /heal\0thz', 400],
  ['get /healthz', 400],
  ['MAKE /healthz', 400],
  ['M-SEARCH /healthz', 405],
])('the request line "%s" gets %d', async (line, status) => {
  const connection = new RawConnection(server);
  connection.request([`${line} HTTP/1.1`, 'Host: x']);
  expect((await connection.response()).status).toBe(status);
  connection.end();
});

test.each([
  ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['another protocol', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a bare line', 'GET /healthz\r\n\r\n'],
])('%s closes the connection', async (_, bytes) => {
  const connection = new RawConnection(server);
  connection.socket.write(bytes);
  await connection.closed();
});

/** The last access-log line. */
const lastRequest = () =>
  server.lines.map((line) => JSON.parse(line)).findLast(({ msg }) => msg === 'request');

test.each([
  ['a second Host', 'GET /healthz HTTP/1.1\r\nHost: x\r\nHost: x\r\n'],
  ['no Host', 'GET /healthz HTTP/1.1\r\n'],
  ['a Host of 256 characters', `GET /healthz HTTP/1.1\r\nHost: ${'x'.repeat(256)}\r\n`],
  ['1,000 headers', `GET /healthz HTTP/1.1\r\nHost: x\r\n${'a:\r\n'.repeat(998)}`],
  ['HTTP/1.0 with chunks', 'POST /healthz HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n'],
])('%s is 400 without a body, and in the log', async (_, head) => {
  server.lines.length = 0;
  const connection = new RawConnection(server);
  connection.socket.write(`${head}X-Request-Id: doubtful\r\n\r\n`);
  const { status, lines, body } = await connection.response();
  expect([status, body, headerOf(lines, 'Connection')]).toEqual([400, '', 'close']);
  await connection.closed();
  expect(lastRequest()).toMatchObject({ request_id: 'doubtful', status: 400, route: null });
});

test('a Host of 255 characters and 999 headers are accepted', async () => {
  const connection = new RawConnection(server);
  const others = Array.from({ length: 998 }, () => 'a:');
  connection.request(['GET /healthz HTTP/1.1', `Host: ${'x'.repeat(255)}`, ...others]);
  expect((await connection.response()).status).toBe(200);
  connection.end();
});

test('two Authorization headers are refused, even if both are right', async () => {
  const { bearer } = await linkedApplication(server);
  server.lines.length = 0;
  const connection = new RawConnection(server);
  connection.request(
    [
      'POST /oauth/convert HTTP/1.1',
      'Host: x',
      `Authorization: ${bearer}`,
      `authorization: ${bearer}`,
      'Content-Type: application/json',
      `Content-Length: ${BODY.length}`,
    ],
    BODY,
  );
  const { status, body } = await connection.response();
  expect([status, JSON.parse(body).error_code]).toEqual([401, 'credentials_invalid']);
  const audited = server.lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'audit');
  expect(audited.reason).toBe('header_repeated');
  connection.end();
});
