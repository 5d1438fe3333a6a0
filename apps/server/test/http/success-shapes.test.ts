import { randomUUID } from 'node:crypto';
import { type OperationName, operationNames, operations, parseCredential } from '@latchkey/schema';
import { beforeAll, expect, test } from 'vitest';
import { credentialFor, inputsOf } from '../cases/cases.ts';
import { DOCUMENTS, newWorld, type World } from '../cases/world.ts';
import { LINKING } from '../linking/link-flow.ts';
import { headersOf, invoke, type Json, succeed, type Wire, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { ADA, asBasic, asBearer, linkedApplication } from './linked-application.ts';
import { EVENTS, operator, type TestServer, useServer } from './running-server.ts';

const wireTime = (milliseconds: number) =>
  new Date(milliseconds).toISOString().replace('Z', '+00:00');

/** Calls an operation and expects a result with exactly the members of its schema. */
function strictly(server: TestServer, wire: Wire) {
  return async (
    name: OperationName,
    input: Record<string, unknown>,
    authorization: string = operator,
  ): Promise<Json> => {
    const response = await invoke(server, wire, name, input, authorization);
    expect(response.status, response.text).toBe(200);
    expect(headersOf(response)).toStrictEqual({
      'content-type': 'application/json; charset=UTF-8',
      'cache-control': 'no-store',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    if (wire === 'tRPC') expect(response.json).toStrictEqual({ result: { data: response.body } });
    // The schema drops unknown members and turns ids into lower case.
    expect(operations[name].output.parse(response.body)).toStrictEqual(response.body);
    return response.body;
  };
}

describeOnAnyStore('results', (fresh) => {
  const server = useServer(fresh, EVENTS);

  test.each(wires)('of an application, over %s', async (wire) => {
    const call = strictly(server, wire);
    server.advance(1);
    const created = await call('admin.applications.create', { name: 'Ünïcode & Söhne 💐' });
    const { secret, ...application } = created;
    const application_id = application.id;
    const created_at = wireTime(server.now());
    const first = {
      object: 'application_secret',
      id: application.secrets[0].id,
      hint: `lk_app_…${secret.slice(-4)}`,
      created_at,
      expires_at: null,
      last_used_at: null,
    };
    expect(application).toStrictEqual({
      object: 'application',
      id: application_id,
      document_uri: null,
      name: 'Ünïcode & Söhne 💐',
      disabled: false,
      created_at,
      secrets: [first],
      redirect_uris: [],
      scopes: null,
      default_scopes: null,
      logo_uri: null,
      homepage_uri: null,
      policy_uri: null,
      tos_uri: null,
      public: false,
      resource_server: false,
      challenge_required: false,
      idle_days: null,
      grants_per_account: null,
    });
    expect(secret).toMatch(/^lk_app_[0-9A-Za-z]{71}$/);
    expect(await call('admin.applications.get', { application_id })).toStrictEqual(application);

    const expires_at = wireTime(server.now() + 3_600_000);
    const { secret: second, ...record } = await call('admin.applications.secrets.create', {
      application_id: application_id.toUpperCase(),
      expires_at: new Date(server.now() + 3_600_000).toISOString(),
    });
    expect(record).toStrictEqual({
      ...first,
      id: record.id,
      hint: `lk_app_…${second.slice(-4)}`,
      expires_at,
    });
    const both = { ...application, secrets: [first, record] };
    expect(await call('admin.applications.get', { application_id })).toStrictEqual(both);
    for (const [verb, disabled] of [
      ['disable', true],
      ['disable', true],
      ['enable', false],
      ['enable', false],
    ] as const) {
      const name = `admin.applications.${verb}` as const;
      expect(await call(name, { application_id })).toStrictEqual({ ...both, disabled });
    }
    expect(
      await call('admin.applications.secrets.revoke', { application_id, secret_id: first.id }),
    ).toStrictEqual({ ...application, secrets: [record] });
    expect(
      await call('admin.applications.secrets.revoke', {
        application_id,
        secret_id: record.id.toUpperCase(),
      }),
    ).toStrictEqual({ ...application, secrets: [] });
    const list = await call('admin.applications.list', {});
    expect(list.data[0]).toStrictEqual({ ...application, secrets: [] });
    const disabled = await call('admin.applications.disable', { application_id });
    const deleted = { application_id: application_id.toUpperCase() };
    expect(await call('admin.applications.delete', deleted)).toStrictEqual({
      ...{ ...disabled, state: 'deleted' },
    });
  });

  test.each(wires)('of a key, over %s', async (wire) => {
    const call = strictly(server, wire);
    const expires_at = wireTime(server.now() + 3_600_000);
    const { secret, ...key } = await call('admin.keys.create', {
      ...{ name: 'Sign-in page', role: 'host' },
      expires_at: new Date(server.now() + 3_600_000).toISOString(),
    });
    expect(secret).toMatch(/^lk_key_[0-9A-Za-z]{71}$/);
    expect(key).toStrictEqual({
      ...{ object: 'key', id: expect.any(String), name: 'Sign-in page', role: 'host' },
      ...{ hint: `lk_key_…${secret.slice(-4)}`, created_at: wireTime(server.now()) },
      ...{ expires_at, last_used_at: null },
    });
    expect(parseCredential('key', secret)).toBe(key.id);
    expect(await call('admin.keys.list', {})).toStrictEqual({
      ...{ object: 'list', data: [key], next_cursor: null },
    });
    const key_id = key.id.toUpperCase();
    expect(await call('admin.keys.delete', { key_id })).toStrictEqual(key);
    const forever = await call('admin.keys.create', { name: 'Ada', role: 'read' });
    expect(forever.expires_at).toBeNull();
    await call('admin.keys.delete', { key_id: forever.id });
  });

  test.each(wires)('of an endpoint and of its deliveries, over %s', async (wire) => {
    const call = strictly(server, wire);
    const { id: application_id } = await call('admin.applications.create', { name: 'Acme' });
    const url = 'http://127.0.0.1:9/events?a=b';
    const types = ['grant.revoked', 'application.disabled'];
    const { secret, ...endpoint } = await call('admin.endpoints.create', {
      ...{ url, application_id: application_id.toUpperCase(), types: types.toReversed() },
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(endpoint).toStrictEqual({
      ...{ object: 'endpoint', id: expect.any(String), application_id, url, types },
      ...{ disabled: false, disabled_reason: null, created_at: wireTime(server.now()) },
      ...{ last_success_at: null, failing_since: null },
    });
    const endpoint_id = endpoint.id;
    expect(await call('admin.endpoints.list', { application_id })).toStrictEqual({
      ...{ object: 'list', data: [endpoint], next_cursor: null },
    });
    expect(await call('admin.endpoints.get', { endpoint_id })).toStrictEqual(endpoint);
    const { secret: next, ...rotated } = await call('admin.endpoints.rotate', { endpoint_id });
    expect(rotated).toStrictEqual(endpoint);
    expect(next).toMatch(/^whsec_/);
    expect(next).not.toBe(secret);

    const ping = await call('admin.endpoints.ping', { endpoint_id });
    const attempt = {
      ...{ at: wireTime(server.now()), duration_ms: expect.any(Number) },
      ...{ result: 'connection_failed', status_code: null },
    };
    expect(ping).toStrictEqual({
      ...{ object: 'delivery', id: expect.any(String), endpoint_id, event_id: expect.any(String) },
      ...{ type: 'ping', grant_id: null, account_id: null, status: 'failed' },
      ...{ created_at: wireTime(server.now()), next_attempt_at: null, attempts: [attempt] },
    });
    expect(await call('admin.deliveries.list', { endpoint_id })).toStrictEqual({
      ...{ object: 'list', data: [ping], next_cursor: null },
    });
    expect(await call('admin.deliveries.retry', { delivery_id: ping.id })).toStrictEqual({
      ...{ ...ping, status: 'pending', next_attempt_at: wireTime(server.now()) },
    });
    const since = new Date(server.now()).toISOString();
    expect(await call('admin.endpoints.replay', { endpoint_id, since })).toStrictEqual({
      ...{ object: 'replay', endpoint_id, count: 0 },
    });

    const failing_since = wireTime(server.now());
    const host = { url: 'https://host.example/events', types: null, disabled: true };
    const updated = { ...endpoint, ...host, disabled_reason: 'operator', failing_since };
    expect(await call('admin.endpoints.update', { endpoint_id, ...host })).toStrictEqual(updated);
    expect(await call('admin.endpoints.update', { endpoint_id })).toStrictEqual(updated);
    expect(await call('admin.endpoints.delete', { endpoint_id })).toStrictEqual(updated);
  });

  test.each(wires)('of an account, over %s', async (wire) => {
    const call = strictly(server, wire);
    const account_id = randomUUID();
    const object = 'service_account';
    const members = { ...ADA, supporter: true, external_id: 'user-4711' };
    const whole = { object, id: account_id, ...members };
    expect(
      await call('admin.accounts.put', { account_id: account_id.toUpperCase(), ...members }),
    ).toStrictEqual(whole);
    expect(await call('admin.accounts.get', { account_id })).toStrictEqual(whole);
    // The whole account is replaced: a member that is left out gets its default.
    const defaults = {
      object,
      id: account_id,
      username: 'bob',
      display_name: 'bob',
      twitter: null,
      verified: false,
      supporter: false,
      external_id: null,
    };
    const put = { account_id, username: 'bob', twitter: null };
    expect(await call('admin.accounts.put', put)).toStrictEqual(defaults);
    expect(
      await call('admin.accounts.get', { account_id: account_id.toUpperCase() }),
    ).toStrictEqual(defaults);
  });

  test.each(wires)('of a code and its grant, over %s', async (wire) => {
    const call = strictly(server, wire);
    const { application_id, account_id, bearer } = await linkedApplication(server);
    const account = { object: 'service_account', id: account_id, ...ADA };
    const scope = 'profile.read email';
    const choice = { id: 'ws-7', label: 'Acme Inc.' };
    const expires_at = wireTime(server.now() + 300_000);
    const { code, ...issued } = await call('admin.codes.issue', {
      application_id: application_id.toUpperCase(),
      account_id: account_id.toUpperCase(),
      scope,
      choice,
    });
    const { grant_id } = issued;
    expect(issued).toStrictEqual({
      object: 'grant_code',
      grant_id,
      application_id,
      account_id,
      resource: null,
      choice,
      scope,
      expires_at,
    });
    expect(code).toMatch(/^lk_code_[0-9A-Za-z]{71}$/);
    expect(Number.parseInt(grant_id.replaceAll('-', '').slice(0, 12), 16)).toBe(server.now());

    server.advance(1234);
    const created_at = wireTime(server.now());
    // The account changes after the code was issued. The grant keeps the snapshot.
    const renamed = { ...ADA, username: 'ada2', twitter: null };
    const external_id = 'user-4711';
    await call('admin.accounts.put', { account_id, ...renamed, external_id });
    const { grant_secret, ...grant } = await call('grants.convert', { code }, bearer);
    expect(grant).toStrictEqual({
      object: 'oauth_grant',
      grant_id,
      created_at,
      scope,
      revoked: false,
      account,
    });
    expect(grant_secret).toMatch(/^lk_grant_[0-9A-Za-z]{71}$/);

    server.advance(1000);
    const recovered = await call('grants.recover', { grant_id: grant_id.toUpperCase() }, bearer);
    expect(recovered).toStrictEqual({ ...grant, grant_secret: recovered.grant_secret });
    expect(recovered.grant_secret).not.toBe(grant_secret);

    for (const as of [asBearer(recovered), asBasic(recovered)]) {
      expect(await call('account.grant', {}, as)).toStrictEqual({
        ...grant,
        application_id,
        document_uri: null,
        resource: null,
        choice,
        external_id,
      });
      expect(await call('account.get', {}, as)).toStrictEqual({ ...account, ...renamed });
    }
    const last_used_at = wireTime(server.now());
    const kept = { application_id, resource: null, choice, revoked_at: null, last_used_at };
    const entry = { ...grant, ...kept };
    expect(await call('admin.grants.list', { account_id })).toStrictEqual({
      object: 'list',
      data: [entry],
      next_cursor: null,
    });

    server.advance(1000);
    const revoked_at = wireTime(server.now());
    const minimal = { object: 'oauth_grant', grant_id, created_at, revoked: true };
    expect(await call('grants.revoke', { grant_id }, bearer)).toStrictEqual(minimal);
    server.advance(1000);
    expect(await call('grants.revoke', { grant_id: grant_id.toUpperCase() }, bearer)).toStrictEqual(
      minimal,
    );
    expect(await call('admin.grants.revoke', { grant_id })).toStrictEqual(minimal);
    const { data } = await call('admin.grants.list', { application_id });
    expect(data).toStrictEqual([{ ...entry, revoked: true, revoked_at }]);
    const parties = { application_id, account_id, scope };
    const { code: _, ...pending } = await call('admin.codes.issue', parties);
    const cancelled = { ...pending, cancelled: true };
    const ofCode = { grant_id: pending.grant_id.toUpperCase() };
    expect(await call('admin.codes.cancel', ofCode)).toStrictEqual(cancelled);
  });

  test.each(wires)('of listed, exported and erased accounts, over %s', async (wire) => {
    const call = strictly(server, wire);
    server.advance(1_000);
    const linked = await linkedApplication(server);
    const { application_id, account_id, bearer } = linked;
    const username = `of ${account_id}`;
    const external_id = account_id;
    const put = { account_id, ...ADA, username, external_id };
    const current = await call('admin.accounts.put', put);
    const { external_id: _, ...account } = current;
    const list = { object: 'list', data: [current], next_cursor: null };
    expect(await call('admin.accounts.list', { username, limit: 1 })).toStrictEqual(list);
    expect(await call('admin.accounts.list', { external_id, limit: 1 })).toStrictEqual(list);
    expect((await call('admin.accounts.list', {})).data[0]).toStrictEqual(current);
    const nobody = { username: username.slice(1) };
    expect(await call('admin.accounts.list', nobody)).toStrictEqual({ ...list, data: [] });

    const { code, grant_id } = await linked.issue();
    const issued_at = wireTime(server.now());
    server.advance(1_000);
    const { created_at, scope } = await call('grants.convert', { code }, bearer);
    server.advance(1_000);
    await invoke(server, wire, 'grants.convert', { code }, bearer);
    const refused_at = wireTime(server.now());
    const pending = await linked.issue();
    const exported = await call('admin.accounts.export', { account_id });
    const entry = {
      object: 'oauth_grant',
      application_id,
      resource: null,
      choice: null,
      scope,
      revoked: false,
      revoked_at: null,
    };
    const change = { grant_id, key_id: null, application_id, request_id: expect.any(String) };
    expect(exported).toStrictEqual({
      object: 'account_export',
      account: current,
      grants: [{ ...entry, grant_id, created_at, last_used_at: null, account }],
      codes: [{ ...entry, grant_id: pending.grant_id, expires_at: pending.expires_at, account }],
      history: [
        { ...change, at: issued_at, operation: 'admin.codes.issue', by: 'operator' },
        { ...change, at: created_at, operation: 'grants.convert', by: 'application' },
        {
          ...change,
          grant_id: pending.grant_id,
          at: refused_at,
          operation: 'admin.codes.issue',
          by: 'operator',
        },
      ],
      refusals: [
        {
          ...change,
          at: refused_at,
          operation: 'grants.convert',
          by: 'application',
          error_code: 'code_already_used',
        },
      ],
    });
    expect(JSON.stringify(exported)).not.toMatch(/hash|lk_|secret/);

    const erasure = {
      ...{ object: 'account_erasure', id: account_id, state: 'erased', grants_revoked: 1 },
    };
    expect(
      await call('admin.accounts.erase', { account_id: account_id.toUpperCase() }),
    ).toStrictEqual(erasure);
    const again = { ...erasure, grants_revoked: 0 };
    expect(await call('admin.accounts.erase', { account_id })).toStrictEqual(again);
    const unknown = { account_id: randomUUID() };
    expect(await call('admin.accounts.erase', unknown)).toStrictEqual({
      ...again,
      id: unknown.account_id,
    });
    const erased = { ...account, username: 'erased', display_name: 'erased', twitter: null };
    const { data } = await call('admin.grants.list', { account_id });
    expect(data).toStrictEqual([
      {
        ...{ ...entry, grant_id, created_at, account: erased, last_used_at: null },
        ...{ revoked: true, revoked_at: refused_at },
      },
    ]);
    const late = await invoke(server, wire, 'grants.convert', { code: pending.code }, bearer);
    expect(late.body.error_code).toBe('code_not_found');
    expect(await call('admin.accounts.put', put)).toStrictEqual(current);
    expect(await call('admin.accounts.get', { account_id })).toStrictEqual(current);
  });
});

/** What the audit calls the id of an object. */
const OWN_ID: Record<string, string> = {
  ...{ application: 'application_id', application_secret: 'secret_id', key: 'key_id' },
  ...{ endpoint: 'endpoint_id', delivery: 'delivery_id', resource: 'resource_id' },
  ...{ service_account: 'account_id', account_erasure: 'account_id', link_request: 'link_id' },
};
const NAMED = /^(application|secret|grant|account|link|resource|endpoint|delivery|key)_id$/;

/** The ids in an input, a result or a line of the audit. */
function idsIn({ object, id, application, ...members }: Json): Json {
  const own = OWN_ID[object];
  const named = Object.entries(members).filter(([name, value]) => NAMED.test(name) && value);
  return {
    ...Object.fromEntries(named),
    ...(own && { [own]: id }),
    ...(application && { application_id: application.id }),
  };
}

describeOnAnyStore('a valid input', (fresh) => {
  const server = useServer(fresh, { ...EVENTS, ...LINKING, ...DOCUMENTS });

  for (const wire of wires) {
    let shared: World;
    beforeAll(async () => {
      shared = await newWorld(server);
    });

    test.each(operationNames)(
      `of %s has a result of its schema and an audit, over ${wire}`,
      async (name) => {
        const isRead = operations[name].method === 'GET';
        const world = isRead ? shared : await newWorld(server);
        const input = inputsOf(world)[name];
        if (name === 'admin.applications.delete') {
          await succeed(server, 'admin.applications.disable', input, operator);
        }
        server.lines.length = 0;
        const output = await strictly(server, wire)(name, input, credentialFor(name, world));
        expect(server.lines.join()).not.toMatch(/(?:lk_[a-z]+|whsec)_[\w+/]{40}/);
        if (operations[name].caller === 'operator') {
          const lines = server.lines.map((line): Json => JSON.parse(line));
          const audited = lines.filter(({ msg, action }) => msg === 'audit' && action === name);
          const ids = audited.map((line) => [line.by, line.admin_secret, line.result, idsIn(line)]);
          const told = ['operator', 'current', 'done', { ...idsIn(output), ...idsIn(input) }];
          expect(ids).toEqual(isRead ? [] : [told]);
        }
        // There can be 50 of them.
        if (isRead || name === 'admin.keys.delete') return;
        await succeed(server, 'admin.keys.delete', { key_id: world.key_id }, operator);
      },
    );
  }
});
