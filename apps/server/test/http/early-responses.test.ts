import { request as httpRequest } from 'node:http';
import { runsAll, slow } from '@latchkey/test-kit/long';
import { beforeAll, expect, test } from 'vitest';
import { describeOnAnyStore } from './databases.ts';
import { type LinkedApplication, linkedApplication } from './linked-application.ts';
import { headerOf, RawConnection } from './raw-connection.ts';
import { useServer } from './running-server.ts';

const MEGABYTES_10 = 10 * 1024 * 1024;

describeOnAnyStore('a response before the end of the body', (fresh) => {
  const server = useServer(fresh);
  let linked: LinkedApplication;
  beforeAll(async () => {
    linked = await linkedApplication(server);
  });

  const JSON_LINE = 'Content-Type: application/json';
  const post = (authorized: boolean, ...lines: string[]) => [
    'POST /oauth/convert HTTP/1.1',
    'Host: x',
    JSON_LINE,
    ...(authorized ? [`Authorization: ${linked.bearer}`] : []),
    ...lines,
  ];
  /** Whether the connection is still usable: it gets a response to another request. */
  const isUsable = async (connection: RawConnection) => {
    connection.request(['GET /healthz HTTP/1.1', 'Host: x']);
    return (await connection.response()).status === 200;
  };

  test.each([
    ['401 if a length is announced', false, 'Content-Length: 10485760', 401],
    ['401 if chunks are announced', false, 'Transfer-Encoding: chunked', 401],
    ['413 if too much is announced', true, 'Content-Length: 10485760', 413],
    ['413 if one byte too much is announced', true, 'Content-Length: 16385', 413],
  ])('is %s and nothing of the body was sent', async (_, authorized, line, status) => {
    const connection = new RawConnection(server);
    connection.request(post(authorized, line));
    expect((await connection.response()).status).toBe(status);
    connection.end();
  });

  test('is sent while half of the body is outstanding, over tRPC too', async () => {
    for (const path of ['/oauth/convert', '/trpc/grants.convert', '/trpc/a,b?batch=1']) {
      const connection = new RawConnection(server);
      connection.request([`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Length: 1000'], '{"co');
      const { status } = await connection.response();
      expect(status).toBe(path.includes('a,b') ? 404 : 401);
      connection.end();
    }
  });

  test.each([
    ['401', false, '{"code":"x"}', 401],
    ['413', true, `{"code":"${'x'.repeat(17_000)}"}`, 413],
    ['400', true, '[', 400],
  ])('leaves the connection usable after %s', async (_, authorized, body, status) => {
    const connection = new RawConnection(server);
    for (let round = 0; round < 3; round++) {
      connection.request(post(authorized, `Content-Length: ${body.length}`), body);
      expect((await connection.response()).status).toBe(status);
      expect(await isUsable(connection)).toBe(true);
    }
    connection.end();
  });

  test.each([
    ['401', false, 401],
    ['413', true, 413],
  ])('of %s reaches a client that sends 10 MB before it reads', async (_, authorized, status) => {
    // The client writes everything before it reads: a reset would discard the response.
    const connection = new RawConnection(server);
    connection.socket.pause();
    connection.request(post(authorized, `Content-Length: ${MEGABYTES_10}`));
    const sent = new Promise((resolve) => {
      connection.socket.write(Buffer.alloc(MEGABYTES_10, 'x'), resolve);
    });
    await sent;
    connection.socket.resume();
    const response = await connection.response();
    expect(response.status).toBe(status);
    expect(headerOf(response.lines, 'Connection')).toBe('close');
    await connection.closed();
    expect(connection.fault).toBeUndefined();
  });

  for (const { client, sendBody, options } of [
    { client: 'fetch', sendBody: viaFetch, options: {} },
    { client: 'node:http', sendBody: viaHttp, options: slow },
  ]) {
    test(`of 401 and 413 to 10 MB reaches ${client}`, options, async () => {
      const url = `${server.url}/oauth/convert`;
      const body = Buffer.alloc(MEGABYTES_10, 'x');
      const authorized = { authorization: linked.bearer };
      for (let round = 0; round < (runsAll ? 3 : 1); round++) {
        expect(await sendBody(url, {}, body)).toEqual([401, 'credentials_missing']);
        expect(await sendBody(url, authorized, body)).toEqual([413, 'body_too_large']);
      }
    });
  }

  test('resets no client that goes on sending while the process stalls', async () => {
    const connection = new RawConnection(server);
    connection.request(post(false, `Content-Length: ${MEGABYTES_10}`));
    expect((await connection.response()).status).toBe(401);
    // Longer than the service waits for more. The service runs in this process, so it stalls too.
    connection.socket.write(Buffer.alloc(MEGABYTES_10 - 1, 'x'));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500);
    await connection.closed();
    expect(connection.fault).toBeUndefined();
  });

  test('closes the connection if the rest of the body is too long to read', async () => {
    const connection = new RawConnection(server);
    connection.request(post(false, 'Content-Length: 10485760'));
    expect(headerOf((await connection.response()).lines, 'Connection')).toBe('close');
    await connection.closed();
    expect(connection.fault).toBeUndefined();
  });
});

describeOnAnyStore('a client that expects 100 before it sends its body', (fresh) => {
  const server = useServer(fresh);
  let linked: LinkedApplication;
  beforeAll(async () => {
    linked = await linkedApplication(server);
  });
  const EXPECT = 'Expect: 100-continue';
  const head = (...lines: string[]) => [
    'POST /oauth/convert HTTP/1.1',
    'Host: x',
    EXPECT,
    ...lines,
  ];

  test('gets 100 if everything before the body is valid', async () => {
    const connection = new RawConnection(server);
    const authorization = `Authorization: ${linked.bearer}`;
    const lines = head(authorization, 'Content-Type: application/json', 'Content-Length: 12');
    connection.request(lines);
    expect(await connection.response()).toMatchObject({ status: 100 });
    connection.socket.write('{"code":"x"}');
    const { status, body } = await connection.response();
    expect([status, JSON.parse(body).error_code]).toEqual([400, 'code_not_found']);
    // The connection is still usable.
    connection.request(lines);
    expect(await connection.response()).toMatchObject({ status: 100 });
    connection.end();
  });

  test.each([
    ['without credentials', 401, []],
    ['with a wrong media type', 415, ['Content-Type: text/plain']],
    ['with a body that is too large', 413, ['Content-Type: application/json']],
  ])('gets the error instead, %s', async (_, status, lines) => {
    const connection = new RawConnection(server);
    const length = status === 413 ? 20_000 : 12;
    const authorization = status === 401 ? [] : [`Authorization: ${linked.bearer}`];
    connection.request(head(`Content-Length: ${length}`, ...authorization, ...lines));
    expect((await connection.response()).status).toBe(status);
    await connection.closed();
    expect(connection.fault).toBeUndefined();
  });

  test('gets the usual response if it expects anything else', async () => {
    const connection = new RawConnection(server);
    connection.request(['GET /healthz HTTP/1.1', 'Host: x', 'Expect: a-miracle']);
    const { status, lines } = await connection.response();
    expect(status).toBe(200);
    expect(headerOf(lines, 'X-Request-Id')).toBeDefined();
    connection.end();
  });
});

describeOnAnyStore('a client that disconnects', (fresh) => {
  const server = useServer(fresh);

  test('during authentication leaves only its line in the log', async () => {
    const linked = await linkedApplication(server);
    const { store } = server.service;
    const { authenticateApplication } = store;
    const asked = Promise.withResolvers<void>();
    const found = Promise.withResolvers<void>();
    store.authenticateApplication = async (id) => {
      asked.resolve();
      await found.promise;
      return authenticateApplication(id);
    };
    const connection = new RawConnection(server);
    connection.request(
      [
        'POST /oauth/convert HTTP/1.1',
        'Host: x',
        'X-Request-Id: gone',
        `Authorization: ${linked.bearer}`,
        'Content-Type: application/json',
        'Content-Length: 12',
      ],
      '{"co',
    );
    await asked.promise;
    store.authenticateApplication = authenticateApplication;
    connection.end();
    await expect.poll(() => connection.socket.destroyed).toBe(true);
    // The server notices a tick or two later.
    await fetch(`${server.url}/healthz`);
    found.resolve();
    const line = () =>
      server.lines.map((text) => JSON.parse(text)).find(({ request_id }) => request_id === 'gone');
    await expect.poll(line).toMatchObject({ msg: 'request', status: null });
  });

  test('in the middle of its body leaves its line in the log', async () => {
    const linked = await linkedApplication(server);
    const connection = new RawConnection(server);
    connection.request(
      [
        'POST /oauth/convert HTTP/1.1',
        'Host: x',
        'X-Request-Id: half',
        'Expect: 100-continue',
        `Authorization: ${linked.bearer}`,
        'Content-Type: application/json',
        'Content-Length: 12',
      ],
      '',
    );
    expect((await connection.response()).status).toBe(100);
    connection.socket.write('{"co');
    connection.end();
    const line = () =>
      server.lines.map((text) => JSON.parse(text)).find(({ request_id }) => request_id === 'half');
    await expect.poll(line).toMatchObject({ msg: 'request', status: null });
  });
});

type Sent = [number, string];

async function viaFetch(
  url: string,
  headers: Record<string, string>,
  body: Buffer<ArrayBuffer>,
): Promise<Sent> {
  const types = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers: { ...headers, ...types }, body });
  const { error_code } = (await response.json()) as { error_code: string };
  return [response.status, error_code];
}

function viaHttp(url: string, headers: Record<string, string>, body: Buffer): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const types = { 'content-type': 'application/json', 'content-length': body.length };
    const request = httpRequest(url, { method: 'POST', headers: { ...headers, ...types } });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve([response.statusCode ?? 0, JSON.parse(text).error_code]));
    });
    request.end(body);
  });
}
