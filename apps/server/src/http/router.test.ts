import { expect, test } from 'vitest';
import { createRouter } from './router.ts';

const route = (method: string, path: string) => ({ method, path, handle: () => {} });
const router = createRouter([
  route('GET', '/things'),
  route('POST', '/things'),
  route('GET', '/things/{thing_id}'),
  route('POST', '/things/{thing_id}/parts'),
  route('DELETE', '/things/{thing_id}/parts/{part_id}'),
]);

test.each([
  ['GET', '/things', {}],
  ['HEAD', '/things', {}],
  ['POST', '/things', {}],
  ['GET', '/things/a', { thing_id: 'a' }],
  ['GET', '/things/%7Bthing_id%7D', { thing_id: '{thing_id}' }],
  ['GET', '/things/a%2Fb', { thing_id: 'a/b' }],
  ['GET', '/things/%', { thing_id: '%' }],
  ['POST', '/things/a/parts', { thing_id: 'a' }],
  ['DELETE', '/things/a/parts/b', { thing_id: 'a', part_id: 'b' }],
])('%s %s is found', (method, path, parameters) => {
  const found = router.find(method, path);
  expect(found.parameters).toEqual(parameters);
  expect(found.route.method).toBe(method === 'HEAD' ? 'GET' : method);
});

test.each([
  '',
  '/',
  '/things/',
  '/Things',
  '/things//parts',
  '/things/a/parts/',
  '/things/a/parts/b/c',
  '/x',
])('%s is not found', (path) => {
  expect(() => router.find('GET', path)).toThrow(
    expect.objectContaining({ code: 'route_not_found' }),
  );
});

test.each([
  ['PUT', '/things', 'GET, HEAD, POST'],
  ['OPTIONS', '/things', 'GET, HEAD, POST'],
  ['HEAD', '/things/a/parts', 'POST'],
  ['get', '/things', 'GET, HEAD, POST'],
  ['GET', '/things/a/parts/b', 'DELETE'],
])('%s %s is refused with the methods that are allowed', (method, path, allow) => {
  expect(() => router.find(method, path)).toThrow(
    expect.objectContaining({ code: 'method_not_allowed', allow }),
  );
});
