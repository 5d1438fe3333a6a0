import { type OperationContract, operations } from '@latchkey/schema';
import { beforeAll, expect, test } from 'vitest';
import { headersOf, requestOf, send, unwrapped, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { asBearer, linkedApplication } from './linked-application.ts';
import { headerOf, RawConnection } from './raw-connection.ts';
import { operator, useServer } from './running-server.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The methods of each path, as in Allow. */
const allowedMethods = new Map<string, string>();
/** Those that are there without the linking flow, client documents and events. */
const offered = Object.entries<OperationContract>(operations).filter(
  ([, { needsLinking, needsDocuments, needsEvents }]) =>
    !(needsLinking || needsDocuments || needsEvents),
);
for (const [, { path, method }] of offered) {
  const methods = method === 'GET' ? 'GET, HEAD' : method;
  const before = allowedMethods.get(path)?.split(', ') ?? [];
  // Two operations may share a route.
  allowedMethods.set(path, [...new Set([...before, methods])].join(', '));
}

describeOnAnyStore('headers', (fresh) => {
  const server = useServer(fresh);
  let grant: string;
  beforeAll(async () => {
    grant = asBearer(await (await linkedApplication(server)).link());
  });

  test.each([['a'], ['0193aa00-0000-7000-8000-000000000001'], ['A.b_c-9'], ['x'.repeat(128)]])(
    'X-Request-Id %s is kept',
    async (id) => {
      for (const [path, status] of [
        ['/healthz', 200],
        ['/v1/account', 401],
        ['/nowhere', 404],
        ['/trpc/account.get', 401],
        ['/docs', 200],
      ] as const) {
        const response = await send(server, {
          method: 'GET',
          path,
          headers: { 'x-request-id': id },
        });
        expect([response.status, response.headers.get('x-request-id')]).toEqual([status, id]);
        if (path === '/v1/account') expect(response.json.request_id).toBe(id);
      }
    },
  );

  test.each([[''], ['x'.repeat(129)], ['a b'], ['a/b'], ['a,b'], ['<a>'], ['{"a":1}'], ['\u00e9']])(
    'X-Request-Id "%s" is replaced by a UUIDv7',
    async (id) => {
      const headers = { 'x-request-id': id };
      const response = await send(server, { method: 'GET', path: '/v1/account', headers });
      expect(response.headers.get('x-request-id')).toMatch(UUID_V7);
      expect(response.json.request_id).toBe(response.headers.get('x-request-id'));
    },
  );

  test('replace an X-Request-Id that is sent twice', async () => {
    const connection = new RawConnection(server);
    const id = 'X-Request-Id: a';
    connection.request(['GET /healthz HTTP/1.1', 'Host: x', id, id]);
    expect(headerOf((await connection.response()).lines, 'X-Request-Id')).toMatch(UUID_V7);
    connection.end();
  });

  test('have a different X-Request-Id for each request', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { headers } = await send(server, { method: 'GET', path: '/healthz' });
        return headers.get('x-request-id');
      }),
    );
    expect(new Set(ids).size).toBe(20);
  });

  test('have the spelling of the contract', async () => {
    const connection = new RawConnection(server);
    connection.request(['GET /v1/account HTTP/1.1', 'Host: x']);
    const { status, lines } = await connection.response();
    expect(status).toBe(401);
    expect(lines).toContain('Content-Type: application/json; charset=UTF-8');
    expect(lines).toContain('Cache-Control: no-store');
    expect(lines).toContain('WWW-Authenticate: Bearer realm="latchkey"');
    connection.end();
  });

  test.each([
    '/healthz',
    '/readyz',
    '/openapi.json',
    '/docs',
    '/docs/errors',
    '/docs/swagger-ui.css',
    '/v1/account',
    '/v1/grant',
    '/trpc/account.get',
    '/trpc/account.get,account.grant?batch=1',
    '/nowhere',
  ])('of HEAD %s are those of GET, and there is no body', async (path) => {
    const request = { path, authorization: grant, headers: { 'x-request-id': 'same' } };
    const get = await send(server, { method: 'GET', ...request });
    const head = await send(server, { method: 'HEAD', ...request });
    expect(head.status).toBe(get.status);
    expect(headersOf(head)).toEqual(headersOf(get));
    expect(Number(head.headers.get('content-length'))).toBe(Buffer.byteLength(get.text));
    expect(head.text).toBe('');
  });

  test('of HEAD leave the connection usable, even after an error', async () => {
    const connection = new RawConnection(server);
    for (const path of ['/v1/account', '/healthz', '/trpc/account.get', '/healthz']) {
      connection.request([`HEAD ${path} HTTP/1.1`, 'Host: x']);
      const { status, body } = await connection.response({ head: true });
      expect([status, body]).toEqual([path === '/healthz' ? 200 : 401, '']);
    }
    connection.end();
  });

  const METHODS = ['OPTIONS', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND'];
  test.each([...allowedMethods])('of %s allow only %s', async (template, allow) => {
    const path = template.replace(/\{\w+\}/g, '7');
    for (const method of METHODS.filter((candidate) => !allow.split(', ').includes(candidate))) {
      const { status, headers, json } = await send(server, { method, path });
      expect([status, headers.get('allow')]).toEqual([405, allow]);
      if (method !== 'HEAD') expect(json.error_code).toBe('method_not_allowed');
    }
  });

  test.each(offered)(
    'of /trpc/%s allow one kind of method and nothing else',
    async (name, { method }) => {
      const allow = method === 'GET' ? 'GET, HEAD' : 'POST';
      for (const other of METHODS.filter((candidate) => !allow.split(', ').includes(candidate))) {
        const response = await send(server, { method: other, path: `/trpc/${name}` });
        expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
      }
    },
  );

  test.each(['/healthz', '/readyz', '/openapi.json', '/docs', '/docs/errors', '/docs/page.css'])(
    'of %s allow GET and HEAD only',
    async (path) => {
      for (const method of ['OPTIONS', 'POST', 'DELETE']) {
        const { status, headers } = await send(server, { method, path });
        expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      }
    },
  );

  test('contain nothing of CORS for any Origin', async () => {
    const headers = {
      origin: 'https://app.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    for (const method of ['OPTIONS', 'GET', 'POST']) {
      for (const path of ['/oauth/convert', '/v1/account', '/trpc/grants.convert', '/healthz']) {
        const response = await send(server, { method, path, headers });
        const names = [...response.headers.keys()];
        expect(names.filter((name) => /^(access-control-|vary$)/.test(name))).toEqual([]);
        if (method === 'OPTIONS') expect(response.status).toBe(405);
      }
    }
  });

  test.each([
    '//',
    '/oauth',
    '/oauth/convert/',
    '//oauth/convert',
    '/OAUTH/convert',
    '/oauth%2Fconvert',
    '/oauth/./convert%20',
    '/v1/account/',
    '/admin/applications/',
    '/admin/applications//secrets',
    '/trpc',
    '/trpc/',
    '/trpc/grants',
    '/trpc/grants.convert/',
    '/trpc/toString',
    '/trpc/__proto__',
    '/trpc/constructor',
    '/healthz/',
    '/docs/package.json',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/metrics',
  ])('of %s are those of an unknown route', async (path) => {
    const connection = new RawConnection(server);
    connection.request([`GET ${path} HTTP/1.1`, 'Host: x']);
    const { status, body, lines } = await connection.response();
    expect(status).toBe(404);
    const json = JSON.parse(body);
    const found = json.error?.data ?? json;
    expect(found.error_code).toBe('route_not_found');
    expect(headerOf(lines, 'Cache-Control')).toBe('no-store');
    connection.end();
  });

  test.each(['/', '/docs/'])('of %s redirect to the documentation', async (path) => {
    const response = await fetch(server.url + path, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/docs']);
    expect(await response.text()).toBe('');
  });

  test('allow a request target in absolute form', async () => {
    const connection = new RawConnection(server);
    connection.request(['GET http://any.example/healthz?x=1 HTTP/1.1', 'Host: x']);
    expect((await connection.response()).status).toBe(200);
    connection.end();
  });

  test('may offer an upgrade to another protocol, which is ignored', async () => {
    const connection = new RawConnection(server);
    const offer = ['Connection: Upgrade', 'Upgrade: websocket'];
    connection.request(['GET /healthz HTTP/1.1', 'Host: x', ...offer]);
    expect((await connection.response()).status).toBe(200);
    connection.end();
  });

  test.each(wires)('may have the scheme in any case, over %s', async (wire) => {
    for (const scheme of ['bearer', 'BEARER', 'BeArEr']) {
      const request = requestOf(wire, 'admin.applications.list');
      const authorization = operator.replace('Bearer', scheme);
      const { status, json } = await send(server, { ...request, authorization });
      expect(status).toBe(200);
      expect(unwrapped(wire, json).object).toBe('list');
    }
  });

  test('set the host of error_uri only if it is a valid host', async () => {
    for (const [host, expected] of [
      ['link.example.com', 'http://link.example.com'],
      ['LINK.example.com:8080', 'http://LINK.example.com:8080'],
      ['[::1]:8080', 'http://[::1]:8080'],
      ['evil.example/x', server.url],
      ['a"onclick="x', server.url],
      ['user@evil.example', server.url],
      ['', server.url],
    ]) {
      const connection = new RawConnection(server);
      connection.request(['GET /v1/account HTTP/1.1', `Host: ${host}`]);
      const { error_uri } = JSON.parse((await connection.response()).body);
      expect(error_uri).toBe(`${expected}/docs/errors#credentials_missing`);
      connection.end();
    }
  });
});
