import { errorDefinition, type OperationName, operations } from '@latchkey/schema';
import { beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { LINKING } from '../linking/link-flow.ts';
import { headersOf, invoke, send, unwrapped, wires } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { unknownCredential } from './error-cases.ts';
import {
  asBasic,
  asBearer,
  type LinkedApplication,
  linkedApplication,
} from './linked-application.ts';
import { EVENTS, operator, useServer } from './running-server.ts';

const BODY = {
  error: 'temporarily_unavailable',
  error_description: errorDefinition('store_unavailable').description,
  error_code: 'store_unavailable',
};

describeOnEachStore('without its store, the service', (fresh) => {
  const server = useServer(fresh, { ...LINKING, ...EVENTS });
  let linked: LinkedApplication;
  let inputs: Partial<Record<OperationName, Record<string, unknown>>>;
  let authorizations: Record<'application' | 'grant' | 'operator', string[]>;

  beforeAll(async () => {
    linked = await linkedApplication(server);
    const { account_id, application_id, secret_id } = linked;
    const { code, grant_id } = await linked.issue();
    const grant = await linked.link();
    const link = unknownCredential('link');
    const resource_id = application_id;
    const named = {
      ...{ account_id, application_id, grant_id, secret_id, link, resource_id },
      ...{ key_id: application_id, endpoint_id: application_id, delivery_id: application_id },
    };
    inputs = {
      'grants.convert': { code },
      'admin.applications.create': { name: 'Acme' },
      'admin.applications.list': {},
      'admin.accounts.put': { account_id, username: 'ada' },
      'admin.codes.issue': { account_id, application_id, scope: 'a' },
      'admin.grants.list': { account_id },
      'admin.grants.revokeAll': { account_id },
      'admin.refusals.list': { account_id },
      'admin.scopes.put': { scope: 'a', title: 'A' },
      'admin.scopes.delete': { scope: 'a' },
      'admin.resources.create': { resource: 'https://mcp.example', name: 'Notes' },
      'admin.keys.create': { name: 'Ada', role: 'read' },
      'admin.endpoints.create': { url: 'https://app.example/events' },
      'admin.endpoints.replay': {
        ...{ endpoint_id: application_id, since: '2026-11-21T02:15:30Z' },
      },
      'admin.deliveries.list': { grant_id },
      'admin.pages.create': { page: 'connections', account_id },
      'grants.introspect': { token: unknownCredential('grantSecret') },
      'grants.revokeToken': { token: unknownCredential('grantSecret') },
      'account.get': {},
      'account.grant': {},
    };
    for (const [name, { input }] of Object.entries(operations)) {
      const takes = (member: string) => Object.hasOwn((input as z.ZodObject).shape, member);
      const taken = Object.entries(named).filter(([member]) => takes(member));
      inputs[name as OperationName] ??= Object.fromEntries(taken);
    }
    authorizations = {
      application: [linked.bearer],
      grant: [asBearer(grant), asBasic(grant)],
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
          const input = inputs[name as OperationName] ?? {};
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
    const failure = server.lines.map((line) => JSON.parse(line)).find(({ err }) => err);
    expect(failure).toMatchObject({
      request_id: 'of-this-test',
      error_code: 'store_unavailable',
      err: { message: 'The store is closed.' },
    });
  });
});
