import { reportGrant } from '@latchkey/rules/audit/grant-history';
import { type OperationName, operationNames, operations, type Role } from '@latchkey/schema';
import { beforeAll, expect, test, vi } from 'vitest';
import { inputsOf } from '../cases/cases.ts';
import { DOCUMENTS, newWorld } from '../cases/world.ts';
import { LINKING } from '../linking/link-flow.ts';
import { invoke, type Json, requestOf, send, succeed, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { FORM_TYPE } from './forms.ts';
import { linkedApplication } from './linked-application.ts';
import { refusalsOf } from './refusals-of.ts';
import { EVENTS, operator, startTestServer, type TestServer, useServer } from './running-server.ts';
import { unknownCredential } from './unknown-credential.ts';

const ROLES: Role[] = ['read', 'host', 'support', 'operate'];
type Key = { id: string; secret: string; bearer: string };

async function newKey(server: TestServer, role: Role, members: object = {}): Promise<Key> {
  const input = { name: `Key to ${role}`, role, ...members };
  const { id, secret } = await succeed(server, 'admin.keys.create', input, operator);
  return { id, secret, bearer: `Bearer ${secret}` };
}

const operatorNames = operationNames.filter((name) => operations[name].caller === 'operator');

describeOnAnyStore('every operation of the operator', (fresh) => {
  const server = useServer(fresh, { ...LINKING, ...EVENTS, ...DOCUMENTS });
  const elsewhere = useServer(fresh);
  const keys = new Map<string, string>();
  let inputs: ReturnType<typeof inputsOf>;
  beforeAll(async () => {
    inputs = inputsOf(await newWorld(server));
    for (const role of ROLES) keys.set(role, (await newKey(server, role)).bearer);
    const expires_at = new Date(server.now() + 1_000).toISOString();
    keys.set('expired', (await newKey(server, 'operate', { expires_at })).bearer);
    server.advance(1_000);
    const deleted = await newKey(server, 'operate');
    await succeed(server, 'admin.keys.delete', { key_id: deleted.id }, operator);
    keys.set('deleted', deleted.bearer);
    keys.set('foreign', (await newKey(elsewhere, 'operate')).bearer);
    const { application_id } = await linkedApplication(server);
    keys.set('application', `Bearer ${unknownCredential('applicationSecret', application_id)}`);
  });

  // With a body of another type, nothing is changed.
  const unreadable = (wire: (typeof wires)[number], name: OperationName) => {
    const request = requestOf(wire, name, inputs[name]);
    const body = { headers: { 'content-type': 'text/plain' }, body: '{' };
    return { ...request, ...(request.method === 'GET' ? {} : body) };
  };

  test.each(wires.flatMap((wire) => operatorNames.map((name) => [wire, name] as const)))(
    'takes the keys of its roles, and no other, before it reads a body: over %s, %s',
    async (wire, name) => {
      const told: Record<string, string> = {};
      for (const [which, authorization] of keys) {
        const { status, text } = await send(server, { ...unreadable(wire, name), authorization });
        const [code] = /right_missing|credentials_invalid/.exec(status === 200 ? '' : text) ?? [
          'accepted',
        ];
        told[which] = code;
        if (code !== 'accepted') expect(status).toBe(code === 'right_missing' ? 403 : 401);
        else expect(status).toBe(operations[name].method === 'GET' ? 200 : 415);
      }
      const { roles } = operations[name] as { roles: readonly Role[] };
      const expected = ROLES.map((role) => [
        role,
        roles.includes(role) ? 'accepted' : 'right_missing',
      ]);
      expect(told).toEqual({
        ...Object.fromEntries(expected),
        expired: 'credentials_invalid',
        deleted: 'credentials_invalid',
        foreign: 'credentials_invalid',
        application: 'credentials_invalid',
      });
    },
  );

  test.each(wires)('is told to its caller, over %s', async (wire) => {
    const self = async (authorization = '') =>
      (await invoke(server, wire, 'admin.self.get', {}, authorization)).body;
    expect(await self(operator)).toEqual({
      ...{ object: 'operator', key_id: null, name: null, role: 'root', may: operatorNames },
    });
    const { bearer, id } = await newKey(server, 'host');
    const told = await self(bearer);
    expect(told).toMatchObject({ object: 'operator', key_id: id, name: 'Key to host' });
    expect(told.role).toBe('host');
    expect(told.may).toContain('admin.links.approve');
    expect(told.may).not.toContain('admin.applications.delete');
  });
});

describeOnAnyStore('a key', (fresh) => {
  const server = useServer(fresh, { RATE_LIMIT: 'authentications=2/60', TRUST_PROXY: 'true' });

  test('counts as a failure of its address if it is wrong, and not if it lacks a right', async () => {
    const { id, bearer } = await newKey(server, 'read');
    const { id: gone, bearer: deleted } = await newKey(server, 'operate');
    await succeed(server, 'admin.keys.delete', { key_id: gone }, operator);
    const list = requestOf('REST', 'admin.keys.list');
    const from = async (address: string, authorization: string, request = list) => {
      const headers = { 'x-forwarded-for': address };
      return (await send(server, { ...request, headers, authorization })).status;
    };
    for (let time = 0; time < 4; time++) expect(await from('192.0.2.1', bearer)).toBe(403);
    const guess = `Bearer ${unknownCredential('key', id)}`;
    expect(await from('192.0.2.2', guess)).toBe(401);
    expect(await from('192.0.2.2', deleted)).toBe(401);
    expect(await from('192.0.2.2', guess)).toBe(429);
    expect(await from('192.0.2.2', `${bearer}x`)).toBe(429);
    // The right one still works there.
    const self = requestOf('REST', 'admin.self.get');
    expect(await from('192.0.2.2', bearer, self)).toBe(200);
    expect(await from('192.0.2.1', guess)).toBe(401);
  });

  test('is no credential of an application or of a grant', async () => {
    const { bearer } = await newKey(server, 'operate');
    for (const [name, input] of [
      ['grants.convert', { code: 'lk_code_x' }],
      ['account.grant', {}],
    ] as const) {
      const request = requestOf('REST', name, input);
      const headers = { ...request.headers, 'x-forwarded-for': '192.0.2.9' };
      const { status, json } = await send(server, { ...request, headers, authorization: bearer });
      expect([status, json.error_code]).toEqual([401, 'credentials_invalid']);
    }
  });

  test('is nothing to an application that asks about it or revokes it', async () => {
    const { secret, bearer } = await newKey(server, 'operate');
    const application = await linkedApplication(server);
    const token = { token: secret };
    const told = await succeed(server, 'grants.introspect', token, application.bearer);
    expect(told).toEqual({ active: false });
    await succeed(server, 'grants.revokeToken', token, application.bearer);
    await succeed(server, 'admin.self.get', {}, bearer);
    const { path, method } = requestOf('REST', 'grants.introspect', token);
    const { status } = await send(server, {
      ...{ path, method, headers: { ...FORM_TYPE, 'x-forwarded-for': '192.0.2.10' } },
      body: new URLSearchParams(token).toString(),
      authorization: `Basic ${btoa(`${application.application_id}:${secret}`)}`,
    });
    expect(status).toBe(401);
  });

  test('acts in the name of the operator, with its id', async () => {
    const { bearer, id: key_id } = await newKey(server, 'support');
    const { account_id, link } = await linkedApplication(server);
    const { grant_id } = await link();
    server.lines.length = 0;
    const headers = { 'x-request-id': `of-${key_id}` };
    const revoke = requestOf('REST', 'admin.grants.revoke', { grant_id });
    await send(server, { ...revoke, headers, authorization: bearer });
    const refused = requestOf('REST', 'admin.codes.cancel', { grant_id });
    await send(server, { ...refused, headers, authorization: bearer });
    const denied = requestOf('REST', 'admin.keys.list');
    await send(server, { ...denied, headers, authorization: bearer });

    const lines = server.lines.map((line): Json => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg === 'audit')).toMatchObject([
      { action: 'admin.grants.revoke', by: 'operator', key_id, result: 'done' },
      { action: 'admin.codes.cancel', by: 'operator', key_id, result: 'grant_not_found' },
      { action: 'admin.keys.list', by: 'operator', key_id, result: 'right_missing' },
    ]);
    for (const line of lines) expect(line.admin_secret).toBeUndefined();
    expect(lines.filter(({ msg }) => msg === 'request').map((line) => line.key_id)).toEqual(
      Array(3).fill(key_id),
    );
    await server.service.audit.flush();
    const { store } = server.service;
    expect(await refusalsOf(server.service, `of-${key_id}`)).toMatchObject([
      { error_code: 'right_missing', by: 'operator', key_id },
      { error_code: 'grant_not_found', by: 'operator', key_id, grant_id },
    ]);
    const { data } = await reportGrant(store, grant_id);
    expect(data.map(({ what, by, key_id }) => [what, by, key_id])).toEqual([
      ['issued', 'operator', null],
      ['converted', 'application', null],
      ['revoked', 'operator', key_id],
      ['admin.codes.cancel', 'operator', key_id],
    ]);
    const exported = await succeed(server, 'admin.accounts.export', { account_id }, operator);
    const by = ({ operation, key_id }: Json) => [operation, key_id];
    expect(exported.history.map(by)).toEqual([
      ['admin.codes.issue', null],
      ['grants.convert', null],
      ['admin.grants.revoke', key_id],
    ]);
    expect(exported.refusals.map(by)).toEqual([['admin.codes.cancel', key_id]]);
  });

  test('has the minute of its last use, which costs one write a minute', async () => {
    const { id, bearer } = await newKey(server, 'read');
    const listed = async (): Promise<Json> => {
      await server.service.useNotes.flush();
      const { data } = await succeed(server, 'admin.keys.list', {}, operator);
      return data.find((key: Json) => key.id === id).last_used_at;
    };
    expect(await listed()).toBeNull();
    const note = vi.spyOn(server.service.store, 'noteKeyUse');
    server.advance(60_000 - (server.now() % 60_000));
    for (let use = 0; use < 3; use++) {
      await succeed(server, 'admin.self.get', {}, bearer);
      expect(Date.parse(await listed())).toBe(server.now() - (server.now() % 60_000));
      server.advance(10_000);
    }
    expect(note).toHaveBeenCalledTimes(1);
    server.advance(60_000);
    await succeed(server, 'admin.self.get', {}, bearer);
    await listed();
    expect(note).toHaveBeenCalledTimes(2);
    note.mockRestore();
  });

  test('is listed with the last 20 expired ones, and is nowhere in the log', async () => {
    const expires_at = new Date(server.now() + 1_000).toISOString();
    const expired: Key[] = [];
    for (let nth = 0; nth < 22; nth++) {
      server.advance(1);
      expired.push(await newKey(server, 'read', { expires_at }));
    }
    server.advance(1_000);
    const { data } = await succeed(server, 'admin.keys.list', {}, operator);
    const listed = data.filter((key: Json) => key.expires_at !== null).map(({ id }: Json) => id);
    expect(listed).toEqual(
      expired
        .map(({ id }) => id)
        .slice(2)
        .reverse(),
    );
    expect(JSON.stringify(data)).not.toMatch(/lk_key_\w/);
    const past = { name: 'Ada', role: 'read', expires_at };
    const { body } = await invoke(server, 'REST', 'admin.keys.create', past, operator);
    expect([body.error_code, body.issues[0].path]).toEqual(['parameter_invalid', ['expires_at']]);
    await invoke(server, 'REST', 'admin.grants.list', { account_id: expired[0]?.secret }, operator);
    expect(server.lines.join()).not.toMatch(/lk_key_\w{71}/);
  });
});

describeOnAnyStore('a key, whose service starts again with another secret,', (fresh) => {
  const server = useServer(fresh, { ADMIN_PORT: '0', ...LINKING });

  test('works as before, on ADMIN_PORT alone, and nowhere without a secret', async () => {
    const at = { ...server, url: server.adminUrl as string };
    const { bearer } = await newKey(at, 'read');
    const statusAt = async (url: string, authorization: string) =>
      (await invoke({ url }, 'REST', 'admin.self.get', {}, authorization)).status;
    expect(await statusAt(at.url, bearer)).toBe(200);
    expect(await statusAt(server.url, bearer)).toBe(404);
    for (const [ADMIN_SECRET, expected] of [
      ['another-secret-of-the-operator-since-today', [200, 401]],
      ['', [404, 404]],
    ] as const) {
      const next = await startTestServer(server.database.url, { ADMIN_SECRET });
      const found = [await statusAt(next.url, bearer), await statusAt(next.url, operator)];
      await next.close();
      expect(found).toEqual(expected);
    }
  });
});

describeOnAnyStore('a key that is deleted on one process', (fresh) => {
  const server = useServer(fresh);

  test('stops on the other from the next request', async () => {
    const other = await startTestServer(server.database.url);
    try {
      for (const wire of wires) {
        const { id, bearer } = await newKey(server, 'read');
        const status = async (at: TestServer) =>
          (await invoke(at, wire, 'admin.self.get', {}, bearer)).status;
        expect([await status(other), await status(server)]).toEqual([200, 200]);
        await succeed(server, 'admin.keys.delete', { key_id: id }, operator);
        expect([await status(other), await status(server)]).toEqual([401, 401]);
      }
    } finally {
      await other.close();
    }
  });

  test('is one of 50 live ones, in every race of two', async () => {
    const other = await startTestServer(server.database.url);
    try {
      const { data } = await succeed(server, 'admin.keys.list', {}, operator);
      const created = await Promise.all(
        Array.from({ length: 56 }, (_, index) =>
          invoke(
            index % 2 === 0 ? server : other,
            'REST',
            'admin.keys.create',
            { name: `${index}`, role: 'read' },
            operator,
          ),
        ),
      );
      const codes = created.map(({ body }) => body.error_code ?? 'created');
      expect(codes.filter((code) => code === 'created')).toHaveLength(50 - data.length);
      expect(new Set(codes)).toEqual(new Set(['created', 'key_limit_reached']));
    } finally {
      await other.close();
    }
  });
});
