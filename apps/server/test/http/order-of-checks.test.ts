import { beforeAll, expect, test } from 'vitest';
import { JSON_TYPE, type Request, requestOf, send, unwrapped, type Wire, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { type LinkedApplication, linkedApplication } from './linked-application.ts';
import { operator, startTestServer, useServer } from './running-server.ts';

/**
 * The faults of a request, in the order in which they are checked. A request with two faults gets
 * the error of the first.
 */
const faults: [string, (request: Request, wire: Wire) => Request][] = [
  ['route_not_found', (request) => ({ ...request, path: request.path.replace('convert', 'c') })],
  ['method_not_allowed', (request) => ({ ...request, method: 'PATCH' })],
  ['credentials_missing', (request) => ({ ...request, authorization: undefined })],
  [
    'media_type_unsupported',
    (request) => ({ ...request, headers: { 'content-type': 'text/plain' } }),
  ],
  ['body_too_large', (request) => ({ ...request, body: `${request.body}${' '.repeat(20_000)}` })],
  ['body_malformed', (request) => ({ ...request, body: request.body?.slice(1) as string })],
  ['parameter_invalid', (request) => ({ ...request, body: '{"code":7}' })],
  ['code_not_found', (request) => request],
];

const pairs = faults.flatMap(([first, addFirst], index) =>
  faults.slice(index + 1).map(([second, addSecond]) => ({ first, second, addFirst, addSecond })),
);

describeOnAnyStore('the order of checks', (fresh) => {
  const server = useServer(fresh);
  let linked: LinkedApplication;
  beforeAll(async () => {
    linked = await linkedApplication(server);
  });

  for (const wire of wires) {
    test.each(pairs)(`over ${wire}: $first before $second`, async (pair) => {
      const valid = {
        ...requestOf(wire, 'grants.convert', { code: 'of nobody' }),
        authorization: linked.bearer,
      };
      // The second fault is applied first, so that the body ends up with both.
      const request = pair.addFirst(pair.addSecond(valid, wire), wire);
      const { json } = await send(server, request);
      expect(unwrapped(wire, json).error_code).toBe(pair.first);
    });

    test(`over ${wire}: credentials before an identifier in the path`, async () => {
      const request = requestOf(wire, 'admin.accounts.get', { account_id: '7' });
      expect(unwrapped(wire, (await send(server, request)).json).error_code).toBe(
        'credentials_missing',
      );
    });

    test(`over ${wire}: the identifier in the path after the body`, async () => {
      const request = requestOf(wire, 'admin.accounts.put', { account_id: '7', username: 'a' });
      const malformed = { ...request, authorization: operator, body: '[' };
      expect(unwrapped(wire, (await send(server, malformed)).json).error_code).toBe(
        'body_malformed',
      );
    });

    test(`over ${wire}: there are no operator routes without an ADMIN_SECRET`, async () => {
      const bare = await startTestServer(server.database.url, { ADMIN_SECRET: '' });
      for (const authorization of [undefined, operator, linked.bearer]) {
        for (const name of ['admin.applications.list', 'admin.applications.create'] as const) {
          for (const method of ['GET', 'POST', 'PATCH']) {
            const { path } = requestOf(wire, name);
            const response = await send(bare, { method, path, authorization, headers: JSON_TYPE });
            expect(response.status).toBe(404);
            expect(unwrapped(wire, response.json).error_code).toBe('route_not_found');
          }
        }
      }
      await bare.close();
    });
  }
});
