import { request as httpRequest } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { describeOnEachStore } from './databases.ts';
import { type LinkedApplication, linkedApplication } from './linked-application.ts';
import { headerOf, RawConnection } from './raw-connection.ts';
import { useServer } from './running-server.ts';

const MEGABYTES_10 = 10 * 1024 * 1024;

describeOnEachStore('an answer that comes before the body', (fresh) => {
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
  /** Whether the connection goes on: another request on it is answered. */
  const goesOn = async (connection: RawConnection) => {
    connection.request(['GET /healthz HTTP/1.1', 'Host: x']);
    return (await connection.answer()).status === 200;
  };

  test.each([
    ['401 where a length is announced', false, 'Content-Length: 10485760', 401],
    ['401 where chunks are announced', false, 'Transfer-Encoding: chunked', 401],
    ['413 where too much is announced', true, 'Content-Length: 10485760', 413],
    ['413 where a byte too much is announced', true, 'Content-Length: 16385', 413],
  ])('is %s and nothing of it was sent', async (_, authorized, line, status) => {
    const connection = new RawConnection(server);
    connection.request(post(authorized, line));
    expect((await connection.answer()).status).toBe(status);
    connection.end();
  });

  test('comes while half of the body is on its way, over tRPC too', async () => {
    for (const path of ['/oauth/convert', '/trpc/grants.convert', '/trpc/a,b?batch=1']) {
      const connection = new RawConnection(server);
      connection.request([`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Length: 1000'], '{"co');
      const { status } = await connection.answer();
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
      expect((await connection.answer()).status).toBe(status);
      expect(await goesOn(connection)).toBe(true);
    }
    connection.end();
  });

  test.each([
    ['401', false, 401],
    ['413', true, 413],
  ])('of %s is seen by who sends 10 MB before it reads', async (_, authorized, status) => {
    // Writes all of it, and only then looks at what came: a reset would take the answer away.
    const connection = new RawConnection(server);
    connection.socket.pause();
    connection.request(post(authorized, `Content-Length: ${MEGABYTES_10}`));
    const sent = new Promise((resolve) => {
      connection.socket.write(Buffer.alloc(MEGABYTES_10, 'x'), resolve);
    });
    await sent;
    connection.socket.resume();
    const answer = await connection.answer();
    expect(answer.status).toBe(status);
    expect(headerOf(answer.lines, 'Connection')).toBe('close');
    await connection.closed();
    expect(connection.fault).toBeUndefined();
  });

  test.each([
    ['fetch', viaFetch],
    ['node:http', viaHttp],
  ])('of 401 and 413 to 10 MB is seen by %s', async (_, sendBody) => {
    const body = Buffer.alloc(MEGABYTES_10, 'x');
    for (let round = 0; round < 3; round++) {
      expect(await sendBody(`${server.url}/oauth/convert`, {}, body)).toEqual([
        401,
        'credentials_missing',
      ]);
      const authorized = { authorization: linked.bearer };
      expect(await sendBody(`${server.url}/oauth/convert`, authorized, body)).toEqual([
        413,
        'body_too_large',
      ]);
    }
  });

  test('takes the connection along where the rest of the body is too much to read', async () => {
    const connection = new RawConnection(server);
    connection.request(post(false, 'Content-Length: 10485760'));
    expect(headerOf((await connection.answer()).lines, 'Connection')).toBe('close');
    await connection.closed();
    expect(connection.fault).toBeUndefined();
  });
});

describeOnEachStore('a caller that waits for leave to send its body', (fresh) => {
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

  test('gets it when all that comes before the body is right', async () => {
    const connection = new RawConnection(server);
    const authorization = `Authorization: ${linked.bearer}`;
    const lines = head(authorization, 'Content-Type: application/json', 'Content-Length: 12');
    connection.request(lines);
    expect(await connection.answer()).toMatchObject({ status: 100 });
    connection.socket.write('{"code":"x"}');
    const { status, body } = await connection.answer();
    expect([status, JSON.parse(body).error_code]).toEqual([400, 'code_not_found']);
    // And the connection goes on.
    connection.request(lines);
    expect(await connection.answer()).toMatchObject({ status: 100 });
    connection.end();
  });

  test.each([
    ['without credentials', 401, []],
    ['with a wrong type', 415, ['Content-Type: text/plain']],
    ['with too much', 413, ['Content-Type: application/json']],
  ])('gets the answer instead %s', async (_, status, lines) => {
    const connection = new RawConnection(server);
    const length = status === 413 ? 20_000 : 12;
    const authorization = status === 401 ? [] : [`Authorization: ${linked.bearer}`];
    connection.request(head(`Content-Length: ${length}`, ...authorization, ...lines));
    expect((await connection.answer()).status).toBe(status);
    await connection.closed();
    expect(connection.fault).toBeUndefined();
  });

  test('and expects something else is answered as if it expected nothing', async () => {
    const connection = new RawConnection(server);
    connection.request(['GET /healthz HTTP/1.1', 'Host: x', 'Expect: a-miracle']);
    const { status, lines } = await connection.answer();
    expect(status).toBe(200);
    expect(headerOf(lines, 'X-Request-Id')).toBeDefined();
    connection.end();
  });
});

describeOnEachStore('a caller that goes away', (fresh) => {
  const server = useServer(fresh);

  test('while it is authenticated leaves nothing behind but its line in the log', async () => {
    const linked = await linkedApplication(server);
    const { store } = server.service;
    const { findApplication } = store;
    const asked = Promise.withResolvers<void>();
    const found = Promise.withResolvers<void>();
    store.findApplication = async (id) => {
      asked.resolve();
      await found.promise;
      return findApplication(id);
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
    store.findApplication = findApplication;
    connection.end();
    await expect.poll(() => connection.socket.destroyed).toBe(true);
    // The server hears of it a turn or two later.
    await fetch(`${server.url}/healthz`);
    found.resolve();
    const line = () =>
      server.lines.map((text) => JSON.parse(text)).find(({ request_id }) => request_id === 'gone');
    await expect.poll(line).toMatchObject({ msg: 'request', status: null });
  });

  test('in the middle of its body does so too', async () => {
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
    expect((await connection.answer()).status).toBe(100);
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
  const answer = await fetch(url, { method: 'POST', headers: { ...headers, ...types }, body });
  const { error_code } = (await answer.json()) as { error_code: string };
  return [answer.status, error_code];
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
