import { randomUUID } from 'node:crypto';
import { type OperationName, type objects, operations } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { invoke, type Json, send, succeed, wires } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { ADA, asBearer, linkedApplication } from '../http/linked-application.ts';
import { operator, useServer } from '../http/running-server.ts';
import { LINKING, PUBLIC_URL } from './link-flow.ts';

const CALLBACK = 'https://app.example/cb';

describeOnAnyStore('what is registered', (fresh) => {
  const server = useServer(fresh, LINKING);

  for (const wire of wires) {
    const call = async (name: OperationName, input: Record<string, unknown> = {}) => {
      const { status, text, body } = await invoke(server, wire, name, input, operator);
      if (status !== 200) throw new Error(`${name} responded with ${status}: ${text}`);
      // Nothing more and nothing less than `docs/protocol/operations.md#objects` says.
      const output = operations[name].output as typeof objects.application;
      expect(output.strict().parse(body)).toStrictEqual(body);
      return body as Json;
    };

    test(`of an application is changed member by member, over ${wire}`, async () => {
      const registered = {
        name: 'Acme',
        redirect_uris: [CALLBACK, 'com.example.app:/cb'],
        scopes: ['profile.read'],
        default_scopes: ['profile.read', 'not.yet.described'],
        logo_uri: 'data:image/png;base64,AAAA',
        homepage_uri: 'https://app.example/#about',
        policy_uri: 'https://app.example/privacy',
        tos_uri: 'http://localhost/terms',
        resource_server: true,
        challenge_required: true,
        idle_days: 30,
        grants_per_account: 2,
      };
      const { secret, ...created } = await call('admin.applications.create', registered);
      expect(secret).toMatch(/^lk_app_/);
      expect(created).toMatchObject({ ...registered, public: false });

      const { id: application_id } = created;
      const update = (changes: object) =>
        call('admin.applications.update', { application_id, ...changes });
      expect(await update({})).toStrictEqual(created);
      const steps: object[] = [
        { name: 'Acme & Co' },
        { redirect_uris: [] },
        { scopes: null },
        { default_scopes: null },
        { logo_uri: null, homepage_uri: null },
        { policy_uri: null, tos_uri: null },
        { challenge_required: false },
        { resource_server: false },
        { idle_days: null },
        { grants_per_account: null },
      ];
      let expected = created;
      for (const changes of steps) {
        expected = { ...expected, ...changes };
        expect(await update(changes)).toStrictEqual(expected);
      }
      expect(await call('admin.applications.get', { application_id })).toStrictEqual(expected);
    });

    test(`of a public application has no secret, over ${wire}`, async () => {
      const created = await call('admin.applications.create', { name: 'A tool', public: true });
      expect(created).toMatchObject({ public: true, secrets: [] });
      expect(created).not.toHaveProperty('secret');
    });

    test(`of a scope is replaced as a whole, over ${wire}`, async () => {
      const scope = `photos/read+${wire}%20'?#`;
      const texts = {
        de: { title: 'Fotos ansehen', description: 'Alle.' },
        fr: { title: 'Voir' },
        it: { title: 'Vedi', description: null },
      };
      const sent = { scope, title: 'See photos', description: 'All.', texts, sensitive: true };
      const first = { object: 'scope', ...sent };
      expect(await call('admin.scopes.put', sent)).toStrictEqual(first);
      const title = 'See your photos';
      const second = { ...first, title, description: null, texts: {}, sensitive: false };
      expect(await call('admin.scopes.put', { scope, title })).toStrictEqual(second);
      await call('admin.scopes.put', { scope: '!first', title: 'First' });
      const { data, ...list } = await call('admin.scopes.list');
      expect(list).toEqual({ object: 'list', next_cursor: null });
      const names = data.map((described: Json) => described.scope);
      expect(names).toEqual(names.toSorted());
      expect(data).toContainEqual(second);
      expect(await call('admin.scopes.delete', { scope })).toStrictEqual(second);
    });

    test(`of a resource is normalized, changed and deleted, over ${wire}`, async () => {
      const name = `Notes ${wire}`;
      const resource = `HTTPS://MCP.Example:443/${wire}/`;
      const created = await call('admin.resources.create', { resource, name });
      expect(created).toStrictEqual({
        object: 'resource',
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        resource: `https://mcp.example/${wire}`,
        name,
        scopes: null,
        default_scopes: null,
        created_at: new Date(server.now()).toISOString().replace('Z', '+00:00'),
      });
      const { id: resource_id } = created;
      const first = await call('admin.resources.create', {
        ...{ resource: 'https://a.example', name },
        ...{ scopes: ['a', 'b'], default_scopes: ['b'] },
      });
      expect(await call('admin.resources.list')).toStrictEqual({
        ...{ object: 'list', data: [first, created], next_cursor: null },
      });
      const update = (changes: object) =>
        call('admin.resources.update', { resource_id: resource_id.toUpperCase(), ...changes });
      const changes = { name: 'All', scopes: ['a'], default_scopes: ['a'] };
      expect(await update(changes)).toStrictEqual({ ...created, ...changes });
      // What is read can be sent back, but for the address nothing of it is ignored.
      expect(await update({ resource: 7, default_scopes: null })).toStrictEqual({
        ...{ ...created, ...changes, default_scopes: null },
      });
      const refused = async (by: OperationName, input: Record<string, unknown>) => {
        const { status, body } = await invoke(server, wire, by, input, operator);
        return [status, body.error_code, ...(body.issues ?? []).map(({ path }: Json) => path[0])];
      };
      const outside = [400, 'parameter_invalid', 'default_scopes'];
      const defaults = { default_scopes: ['b'] };
      expect(await refused('admin.resources.update', { resource_id, ...defaults })).toEqual(
        outside,
      );
      expect(
        await refused('admin.resources.create', {
          ...{ resource: 'https://b.example', name, scopes: ['a'], ...defaults },
        }),
      ).toEqual(outside);
      for (const own of ['/v1', '/v1/', '/v1/account'].map((path) => PUBLIC_URL + path)) {
        expect(await refused('admin.resources.create', { resource: own, name })).toEqual([
          ...[400, 'parameter_invalid', 'resource'],
        ]);
      }
      const beside = await call('admin.resources.create', { resource: `${PUBLIC_URL}/v12`, name });
      for (const { id } of [created, first, beside]) {
        const deleted = await call('admin.resources.delete', { resource_id: id });
        expect(deleted.id).toBe(id);
      }
    });

    test(`of connections ends by application, over ${wire}`, async () => {
      await call('admin.scopes.put', { scope: 'email', title: 'Read your address' });
      const [b, a] = [await linkedApplication(server), await linkedApplication(server)];
      const { account_id } = a;
      await call('admin.applications.update', { application_id: b.application_id, name: 'B' });
      await call('admin.applications.update', { application_id: a.application_id, name: 'A' });
      const issued = { account_id, scope: 'email profile.write' };
      const link = async ({ application_id, convert }: typeof a) => {
        // Of two in one millisecond, either could be the newer one.
        server.advance(1);
        return convert((await call('admin.codes.issue', { ...issued, application_id })).code);
      };
      const [first, second, other] = [await link(a), await link(a), await link(b)];
      await a.issue();

      const list = () => call('admin.connections.list', { account_id });
      const { data } = await list();
      expect(data.map(({ application }: Json) => application.name)).toEqual(['A', 'B']);
      expect(data[0]).toStrictEqual({
        object: 'connection',
        application: {
          ...{ object: 'application_profile', id: a.application_id, document_uri: null, name: 'A' },
          ...{ logo_uri: null, homepage_uri: null, policy_uri: null, tos_uri: null },
          vouched: true,
        },
        scopes: [
          {
            object: 'scope',
            scope: 'email',
            title: 'Read your address',
            description: null,
            texts: {},
            sensitive: false,
          },
          {
            object: 'scope',
            scope: 'profile.write',
            title: 'profile.write',
            description: null,
            texts: {},
            sensitive: false,
          },
        ],
        choices: [],
        connected_at: first.created_at,
        last_used_at: null,
        grants: [second, first].map(({ grant_id, created_at, scope }) => ({
          ...{ grant_id, created_at, scope, choice: null },
        })),
        grants_total: 2,
      });

      const end = () =>
        call('admin.connections.revoke', { account_id, application_id: a.application_id });
      const ended = await end();
      expect(ended.data).toStrictEqual(
        [second, first].map(({ grant_id, created_at }) => ({
          ...{ object: 'oauth_grant', grant_id, created_at, revoked: true },
        })),
      );
      expect((await end()).data).toEqual([]);
      for (const [grant, status] of [
        [first, 401],
        [second, 401],
        [other, 200],
      ] as const) {
        const request = { method: 'GET', path: '/v1/account', authorization: asBearer(grant) };
        expect((await send(server, request)).status).toBe(status);
      }
      expect((await list()).data).toHaveLength(1);
      const nobody = { account_id: randomUUID(), application_id: a.application_id };
      expect(
        (await call('admin.connections.list', { account_id: nobody.account_id })).data,
      ).toEqual([]);
      expect((await call('admin.connections.revoke', nobody)).data).toEqual([]);
    });

    test(`of an account or an application end at once, over ${wire}`, async () => {
      const [linked, other] = [await linkedApplication(server), await linkedApplication(server)];
      const { account_id, application_id } = linked;
      const grants = [await linked.link(), await linked.link()];
      await linked.issue();
      const kept = await other.link();
      const revoke = (parties: Record<string, string>) => call('admin.grants.revokeAll', parties);
      const counts = (grants_revoked: number, codes_cancelled: number) => ({
        ...{ object: 'grant_revocations', state: 'revoked', grants_revoked, codes_cancelled },
      });
      expect(await revoke({ account_id })).toStrictEqual(counts(2, 1));
      expect(await revoke({ account_id })).toStrictEqual(counts(0, 0));
      const [code, late] = [await linked.issue(), await linked.link()];
      expect(await revoke({ application_id })).toStrictEqual(counts(1, 1));
      for (const unknown of [{ account_id: randomUUID() }, { application_id: randomUUID() }]) {
        expect(await revoke(unknown)).toStrictEqual(counts(0, 0));
      }
      for (const [grant, status] of [
        ...[...grants, late].map((grant) => [grant, 401] as const),
        [kept, 200] as const,
      ]) {
        const request = { method: 'GET', path: '/v1/account', authorization: asBearer(grant) };
        expect((await send(server, request)).status).toBe(status);
      }
      const input = { code: code.code };
      const { body } = await invoke(server, wire, 'grants.convert', input, linked.bearer);
      expect(body.error_code).toBe('code_not_found');
      for (const wrong of [
        {},
        { account_id, application_id },
        { account_id, grant_id: account_id },
      ]) {
        const refused = await invoke(server, wire, 'admin.grants.revokeAll', wrong, operator);
        expect(refused.body.error_code).toBe('parameter_invalid');
      }
    });

    test(`of a page is an address that expires, over ${wire}`, async () => {
      const account_id = randomUUID();
      await call('admin.accounts.put', { account_id, ...ADA });
      const input = { page: 'connections', account_id, return_url: 'https://host.example/' };
      const { url, ...page } = await call('admin.pages.create', input);
      expect(url).toMatch(/\/connections\?ticket=lk_ticket_[0-9A-Za-z]{71}$/);
      expect(url.startsWith(`${PUBLIC_URL}/connections`)).toBe(true);
      const expires_at = new Date(server.now() + 300_000).toISOString().replace('Z', '+00:00');
      expect(page).toEqual({
        ...{ object: 'page', id: page.id, page: 'connections', account_id, expires_at },
      });
    });
  }

  test('ends more grants than one page of the store has', async () => {
    const linked = await linkedApplication(server);
    const { account_id, application_id } = linked;
    for (let made = 0; made < 101; made++) await linked.link();
    const input = { account_id, application_id };
    const { data } = await succeed(server, 'admin.connections.revoke', input, operator);
    expect(data).toHaveLength(101);
    const { data: left } = await succeed(
      server,
      'admin.connections.list',
      { account_id },
      operator,
    );
    expect(left).toEqual([]);
  });

  test('shows a connection of a disabled application, and none of a deleted one', async () => {
    const linked = await linkedApplication(server);
    const { account_id, application_id } = linked;
    await linked.link();
    const connections = async () =>
      (await succeed(server, 'admin.connections.list', { account_id }, operator)).data;
    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    expect(await connections()).toHaveLength(1);
    await succeed(server, 'admin.applications.delete', { application_id }, operator);
    expect(await connections()).toEqual([]);
  });
});
