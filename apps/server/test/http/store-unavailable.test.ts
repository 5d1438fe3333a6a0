import { errorDefinition, type OperationName, operations } from '@latchkey/schema';
import { beforeAll, expect, test } from 'vitest';
import { inputsOf } from '../cases/cases.ts';
import { DOCUMENTS, newWorld } from '../cases/world.ts';
import { LINKING } from '../linking/link-flow.ts';
import { headersOf, invoke, send, unwrapped, wires } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { asBasic, asBearer } from './linked-application.ts';
import { EVENTS, operator, useServer } from './running-server.ts';
import { unknownCredential } from './unknown-credential.ts';

const BODY = {
  error: 'temporarily_unavailable',
  error_description: errorDefinition('store_unavailable').description,
  error_code: 'store_unavailable',
};

describeOnEachStore('without its store, the service', (fresh) => {
  const server = useServer(fresh, { ...LINKING, ...EVENTS, ...DOCUMENTS });
  let inputs: ReturnType<typeof inputsOf>;
  let authorizations: Record<'application' | 'grant' | 'operator', string[]>;

  beforeAll(async () => {
    const world = await newWorld(server);
    inputs = inputsOf(world);
    authorizations = {
      application: [world.bearer],
      grant: [asBearer(world.grant), asBasic(world.grant)],
      operator: [operator],
    };
    await server.service.store.close();
  });

  for (const wire of wires) {
    // These need no database: what the secret may do, and the settings of the process.
    const independent = ['admin.self.get', 'admin.settings.get'];
    test.each(Object.entries(operations).filter(([name]) => !independent.includes(name)))(
      `responds to %s over ${wire} with store_unavailable`,
      async (name, { caller }) => {
        for (const authorization of authorizations[caller]) {
          const input = inputs[name as OperationName];
          const response = await invoke(server, wire, name as OperationName, input, authorization);
          const request_id = response.headers.get('x-request-id') ?? '';
          expect(response.body).toStrictEqual({
            ...BODY,
            error_uri: `${LINKING.PUBLIC_URL}/docs/errors#store_unavailable`,
            request_id,
          });
          expect(response.status).toBe(503);
          expect(headersOf(response)).toStrictEqual({
            'content-type': 'application/json; charset=UTF-8',
            'cache-control': 'no-store',
            'x-request-id': request_id,
            'retry-after': '1',
          });
        }
      },
    );

    test(`refuses over ${wire} what it can refuse without the store`, async () => {
      const response = await invoke(
        server,
        wire,
        'grants.convert',
        { code: 'x' },
        'Bearer lk_app_x',
      );
      expect(response.body.error_code).toBe('credentials_invalid');
      const malformed = await send(server, {
        method: 'POST',
        path: wire === 'REST' ? '/admin/applications' : '/trpc/admin.applications.create',
        authorization: operator,
      });
      expect(unwrapped(wire, malformed.json).error_code).toBe('body_malformed');
    });
  }

  test.each([
    ['/oauth/authorize?client_id=0193aa00-0000-7000-8000-000000000001', undefined],
    [`/connections?ticket=${unknownCredential('pageTicket')}`, undefined],
    ['/connections', `__Host-latchkey_connections=${unknownCredential('pageSession')}`],
  ])('responds to %s with a page', async (path, cookie) => {
    const headers = { ...(cookie && { cookie }) };
    const response = await send(server, { method: 'GET', path, headers });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(response.headers.get('content-type')).toBe('text/html; charset=UTF-8');
    expect(response.text).toContain('Not available right now');
    expect(response.text).toContain('<dd>store_unavailable</dd>');
  });

  test('is alive but not ready', async () => {
    expect((await send(server, { method: 'GET', path: '/healthz' })).json).toEqual({
      status: 'ok',
    });
    const response = await send(server, { method: 'GET', path: '/readyz' });
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.json).toStrictEqual({
      ...BODY,
      error_uri: `${LINKING.PUBLIC_URL}/docs/errors#store_unavailable`,
      request_id: response.headers.get('x-request-id'),
    });
  });

  test('logs the reason under the request id', async () => {
    server.lines.length = 0;
    const headers = { 'x-request-id': 'of-this-test' };
    await send(server, { method: 'GET', path: '/readyz', headers });
    // The background logs its own failures.
    expect(server.lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        request_id: 'of-this-test',
        error_code: 'store_unavailable',
        cause: 'Error: The store is closed.',
      }),
    );
  });
});
