import { expect, test } from 'vitest';
import { sqliteDatabase } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { headerOf, RawConnection } from '../http/raw-connection.ts';
import { useServer } from '../http/running-server.ts';

// Where one request ends and the next begins, when a caller, or a proxy that reads it otherwise
// than we do, makes that doubtful. Behind each doubtful request comes another one, which exchanges
// a code: either it is refused together with the first, or it is taken as what it is.

const BODY = '{"code":"x"}';
const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
/** A request in pieces: what is added to its header section, and its body. */
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
  ['no length and chunks', 'Content-Length: 0\r\nTransfer-Encoding: chunked\r\n', chunked(BODY)],
  ['two lengths', 'Content-Length: 12\r\nContent-Length: 0\r\n', BODY],
  ['one length twice', 'Content-Length: 12\r\nContent-Length: 12\r\n', BODY],
  ...lengths.map((value): Shape => [`the length "${value}"`, `Content-Length: ${value}\r\n`, BODY]),
  ...codings.map(
    (value): Shape => [`the coding "${value}"`, `Transfer-Encoding: ${value}\r\n`, chunked(BODY)],
  ),
  [
    'chunks that are taken back',
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

const taken: Shape[] = [
  ['a length', 'Content-Length: 12\r\n', BODY],
  ['a length with a zero', 'Content-Length: 012\r\n', BODY],
  ['chunks', 'Transfer-Encoding: Chunked\r\n', chunked(BODY)],
  [
    'a chunk a byte',
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

/** A doubtful request, with `BEARER` for good credentials, and another one to come behind it. */
async function requests(head: string, body: string) {
  const linked = await linkedApplication(server);
  const { code } = await linked.issue();
  const exchange = JSON.stringify({ code });
  const post = (lines: string) =>
    `POST /oauth/convert HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${lines}`;
  const authorization = `Authorization: ${linked.bearer}\r\n`;
  return {
    connection: new RawConnection(server),
    first: `${head.replace('POST\r\n', post(''))}\r\n${body}`.replace('BEARER\r\n', authorization),
    second: `${post(authorization)}Content-Length: ${exchange.length}\r\n\r\n${exchange}`,
    /** That nobody exchanged the code of the second: it can still be. */
    expectUnused: async () => expect(await linked.convert(code)).toMatchObject({ revoked: false }),
  };
}

/** Sends a doubtful request with another one behind it, in one piece. */
async function sendBoth(head: string, body: string) {
  const { connection, first, second, expectUnused } = await requests(head, body);
  connection.socket.write(first + second);
  return { connection, expectUnused };
}

test.each(refused)('%s: refused with what comes behind it', async (_, headers, body) => {
  const { connection, expectUnused } = await sendBoth(`POST\r\nBEARER\r\n${headers}`, body);
  const { status, lines } = await connection.answer();
  expect([400, 413, 431]).toContain(status);
  expect(headerOf(lines, 'Connection')).toBe('close');
  await connection.closed();
  await expect(connection.answer()).rejects.toThrow('The connection ended');
  await expectUnused();
});

test.each(taken)('%s: taken, and then what comes behind it', async (_, headers, body) => {
  const { connection } = await sendBoth(`POST\r\nBEARER\r\n${headers}`, body);
  const first = await connection.answer();
  expect([first.status, JSON.parse(first.body).error_code]).toEqual([400, 'code_not_found']);
  const second = await connection.answer();
  expect([second.status, JSON.parse(second.body).object]).toEqual([200, 'oauth_grant']);
  connection.end();
});

test('a credential in the trailers is none', async () => {
  const { connection } = await sendBoth(
    'POST\r\nTransfer-Encoding: chunked\r\n',
    `c\r\n${BODY}\r\n0\r\nBEARER\r\n\r\n`,
  );
  expect((await connection.answer()).status).toBe(401);
  connection.end();
});

// The answers to them would be lost (RFC 9112, section 9.6).
test('behind an answer that did not wait for all of a body, nothing is taken', async () => {
  const { connection, first, second, expectUnused } = await requests(
    'POST\r\nTransfer-Encoding: chunked\r\n',
    `c\r\n${BODY}\r\n`,
  );
  connection.socket.write(first);
  const { status, lines } = await connection.answer();
  expect([status, headerOf(lines, 'Connection')]).toEqual([401, 'close']);
  connection.socket.write(`0\r\n\r\n${second}`);
  await connection.closed();
  await expectUnused();
});

test.each([
  ['a Host too many', 'GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n', ''],
  ['no Host', 'GET /healthz HTTP/1.1\r\n', ''],
  ['a wish to close', 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n', ''],
  ['an old version', 'GET /healthz HTTP/1.0\r\n', ''],
])('%s: what comes behind the last answer is not taken', async (_, head, body) => {
  const { connection, expectUnused } = await sendBoth(head, body);
  expect(headerOf((await connection.answer()).lines, 'Connection')).toBe('close');
  await connection.closed();
  await expectUnused();
});

test('a body that is cut short is taken by nobody', async () => {
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
])('the request line "%s" is answered by %d', async (line, status) => {
  const connection = new RawConnection(server);
  connection.request([`${line} HTTP/1.1`, 'Host: x']);
  expect((await connection.answer()).status).toBe(status);
  connection.end();
});

test.each([
  ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['another protocol', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a bare line', 'GET /healthz\r\n\r\n'],
])('%s ends the connection', async (_, bytes) => {
  const connection = new RawConnection(server);
  connection.socket.write(bytes);
  await connection.closed();
});
