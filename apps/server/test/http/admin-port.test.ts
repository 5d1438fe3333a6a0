import { expect, test } from 'vitest';
import { LINKING } from '../linking/link-flow.ts';
import { type Json, preflight, requestOf, send, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { linkedApplication } from './linked-application.ts';
import { operator, useServer } from './running-server.ts';

describeOnAnyStore('ADMIN_PORT', (fresh) => {
  const server = useServer(fresh, {
    ...{ ...LINKING, CLIENT_REGISTRATION: 'on', ADMIN_PORT: '0', METRICS: 'on' },
  });
  const ports = () => ({ public: { url: server.url }, admin: { url: server.adminUrl ?? '' } });
  const admin = () => ports().admin;

  /** What each of the ports responds with: the status, and the code of an error. */
  async function onBoth(request: Parameters<typeof send>[1]) {
    const told = async (port: { url: string }) => {
      const { status, json } = await send(port, request);
      const error: Json = json?.error?.data ?? json;
      return [status, error?.error_code ?? '-'].join(' ');
    };
    return { public: await told(ports().public), admin: await told(ports().admin) };
  }
  const onPublic = { public: '200 -', admin: '404 route_not_found' };
  const onAdmin = { public: '404 route_not_found', admin: '200 -' };

  test('lets no page of another origin call it', async () => {
    const allowed = async (port: { url: string }) => {
      const { status, headers } = await send(port, preflight('/oauth/token'));
      return [status, headers.get('access-control-allow-origin')];
    };
    expect(await allowed(ports().public)).toEqual([204, '*']);
    expect(await allowed(admin())).toEqual([404, null]);
  });

  test.each(wires)('has the operations of the operator, and no others, over %s', async (wire) => {
    const list = requestOf(wire, 'admin.applications.list');
    expect(await onBoth({ ...list, authorization: operator })).toEqual(onAdmin);

    const linked = await linkedApplication(admin());
    const { code } = await linked.issue();
    const convert = {
      ...requestOf(wire, 'grants.convert', { code }),
      authorization: linked.bearer,
    };
    expect((await send(admin(), convert)).status).toBe(404);
    expect((await send(server, convert)).status).toBe(200);
  });

  test.each([
    ['/metrics', onAdmin],
    ['/openapi.json', onPublic],
    ['/docs', onPublic],
    ['/docs/errors', onPublic],
    ['/healthz', { public: '200 -', admin: '200 -' }],
    ['/readyz', { public: '200 -', admin: '200 -' }],
  ])('%s', async (path, expected) => {
    expect(await onBoth({ method: 'GET', path })).toEqual(expected);
  });

  test('a call of a batch that belongs to the other port is not found', async () => {
    const path = '/trpc/admin.applications.list,account.get?batch=1';
    const codes = async (port: { url: string }) => {
      const { json } = await send(port, { method: 'GET', path, authorization: operator });
      return json.map(({ error }: Json) => error?.data.error_code ?? '-');
    };
    expect(await codes(ports().public)).toEqual(['route_not_found', 'credentials_invalid']);
    expect(await codes(ports().admin)).toEqual(['-', 'route_not_found']);
  });

  test('a wrong method on the other port is not found either', async () => {
    const request = { method: 'PATCH', path: '/admin/applications', authorization: operator };
    expect(await onBoth(request)).toEqual({
      public: '404 route_not_found',
      admin: '405 method_not_allowed',
    });
  });
});
