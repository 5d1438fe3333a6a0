import { type OperationContract, type OperationName, operations } from '@latchkey/schema';
import { beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import {
  invoke,
  JSON_TYPE,
  type Json,
  requestOf,
  send,
  succeed,
  unwrapped,
  wires,
} from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { asBearer, type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { operator, useServer } from '../http/running-server.ts';
import { LINKING, linkingApplication } from '../linking/link-flow.ts';

// Values that a store, a template or a language could interpret, in every member of every operation.
// The schema refuses each of them before they reach a store.

/** No member of any operation accepts these. */
const neverTaken: Json[] = [
  { $ne: null },
  { $gt: '' },
  { $regex: '.*' },
  { $exists: true },
  { $where: 'return true' },
  { $in: [''] },
  { toString: 'x', length: 1 },
  {},
  [],
  [''],
  [[{ $ne: null }]],
];
/** No text member accepts these. */
const noTexts: Json[] = [...neverTaken, true, 1, 0];
/** No text member with a format accepts these. */
const badTexts = ['', '\0', 'a\0b', '\ud800', 'a\udc00', '\ud800\ud800', '\u001b[31m', 'a\u0085'];

describeOnEachStore('a hostile value', (fresh) => {
  const server = useServer(fresh, LINKING);
  let linked: LinkedApplication;
  let grant: Json;
  let code: string;
  /** A valid input for every operation, with all of its members. */
  let right: Record<OperationName, Record<string, Json>>;
  beforeAll(async () => {
    linked = await linkedApplication(server);
    grant = await linked.link();
    const pending = await linked.issue();
    code = pending.code;
    const { application_id, account_id, secret_id } = linked;
    const { grant_id } = grant;
    const { link } = await (await linkingApplication(server)).begin();
    const page = { limit: 1, cursor: 'A'.repeat(22) };
    const redirect_uri = 'https://app.example/cb';
    const registered = {
      ...{ name: 'Eve', redirect_uris: [redirect_uri], scopes: ['profile.read'] },
      ...{ logo_uri: redirect_uri, homepage_uri: redirect_uri, resource_server: false },
    };
    const token = { token: grant.grant_secret, token_type_hint: 'access_token' };
    right = {
      'grants.convert': { code, redirect_uri, code_verifier: 'v'.repeat(43) },
      'grants.revokeToken': token,
      'grants.introspect': token,
      'grants.revoke': { grant_id },
      'grants.recover': { grant_id },
      'account.get': {},
      'account.grant': {},
      'admin.applications.create': { ...registered, public: false },
      'admin.applications.update': { application_id, ...registered },
      'admin.applications.list': page,
      'admin.applications.get': { application_id },
      'admin.applications.secrets.create': { application_id, expires_at: '2999-01-01T00:00:00Z' },
      'admin.applications.secrets.revoke': { application_id, secret_id },
      'admin.applications.disable': { application_id },
      'admin.applications.enable': { application_id },
      'admin.applications.delete': { application_id },
      'admin.accounts.put': {
        ...{ account_id, username: 'eve', display_name: 'Eve', twitter: 'eve' },
        ...{ verified: false, supporter: false },
      },
      'admin.accounts.get': { account_id },
      'admin.accounts.list': { username: 'eve', ...page },
      'admin.accounts.erase': { account_id },
      'admin.accounts.export': { account_id },
      'admin.codes.issue': {
        ...{ application_id, account_id, scope: 'all', redirect_uri },
        code_challenge: 'c'.repeat(43),
      },
      'admin.codes.cancel': { grant_id: pending.grant_id },
      'admin.grants.list': { account_id, ...page },
      'admin.grants.revoke': { grant_id },
      'admin.scopes.put': { scope: 'eve', title: 'Eve', description: 'Eve', texts: {} },
      'admin.scopes.list': {},
      'admin.scopes.delete': { scope: 'eve' },
      'admin.connections.list': { account_id },
      'admin.connections.revoke': { account_id, application_id },
      'admin.pages.create': {
        ...{ page: 'connections', account_id, return_url: redirect_uri, locale: 'de' },
      },
      'admin.links.read': { link },
      'admin.links.identify': { link, account_id, locale: 'de' },
      'admin.links.approve': { link, account_id, scope: 'profile.read' },
      'admin.links.deny': { link },
    };
  });

  const authorizationOf = (name: OperationName) =>
    ({ application: linked.bearer, grant: asBearer(grant), operator })[operations[name].caller];

  /** The state that the values could change, as the operator sees it. */
  async function everything(): Promise<Json> {
    const { application_id, account_id } = linked;
    const { last_used_at: _, ...secret } = (
      await succeed(server, 'admin.applications.get', { application_id }, operator)
    ).secrets[0];
    return {
      secret,
      applications: (await succeed(server, 'admin.applications.list', { limit: 100 }, operator))
        .data.length,
      account: await succeed(server, 'admin.accounts.get', { account_id }, operator),
      grants: await succeed(server, 'admin.grants.list', { account_id }, operator),
    };
  }

  const names = Object.keys(operations) as OperationName[];
  const schemaOf = (name: OperationName, member: string): Json =>
    z.toJSONSchema(operations[name].input, { io: 'input' }).properties?.[member];
  const typesOf = (schema: Json): string[] =>
    schema.anyOf?.flatMap(typesOf) ?? [schema.type].flat();

  const typeOf = (value: Json) => (Array.isArray(value) ? 'array' : typeof value);

  /** Some may be any text: it is then unknown, or means nothing. */
  function textsRefusedBy(name: OperationName, member: string): string[] {
    if (['code', 'link', 'token'].includes(member)) return [''];
    const isIgnored = member === 'token_type_hint';
    return isIgnored || (name === 'grants.convert' && member === 'redirect_uri') ? [] : badTexts;
  }

  for (const wire of wires) {
    test(`is refused in every member of every operation over ${wire} and changes nothing`, async () => {
      const before = await everything();
      let tried = 0;
      for (const name of names) {
        const { method, path }: OperationContract = operations[name];
        for (const member of Object.keys(right[name])) {
          const types = typesOf(schemaOf(name, member));
          const asText = wire === 'REST' && (method === 'GET' || path.includes(`{${member}}`));
          // In an address every value is a text, and these may be nearly any text.
          const isAnyText = asText && (member === 'username' || member === 'scope');
          const noText = isAnyText ? [] : noTexts;
          // A list and a record may be empty.
          const never = neverTaken.filter(
            (value) => Object.keys(value).length > 0 || !types.includes(typeOf(value)),
          );
          const values: Json[] = types.includes('string') ? noText : never;
          const texts = textsRefusedBy(name, member);
          for (const value of types.includes('string') ? [...values, ...texts] : values) {
            // A lone surrogate can't be sent in a path or a query.
            if (asText && typeof value === 'string' && !value.isWellFormed()) continue;
            if (asText && path.includes(`{${member}}`) && value === '') continue;
            const sent = asText && typeof value !== 'string' ? JSON.stringify(value) : value;
            const input = { ...right[name], [member]: sent };
            const { status, body } = await invoke(server, wire, name, input, authorizationOf(name));
            const told = [name, member, sent, status, body.error_code, body.issues?.[0]?.path[0]];
            expect(told).toEqual([name, member, sent, 400, 'parameter_invalid', member]);
            tried++;
          }
        }
      }
      expect(tried).toBeGreaterThan(200);
      expect(await everything()).toEqual(before);
    });

    test(`in a prototype is no member over ${wire}`, async () => {
      const before = await everything();
      for (const name of names) {
        const { method, path }: OperationContract = operations[name];
        // Members in the path are always sent. A GET over REST has no JSON that could hide members.
        if (wire === 'REST' && (method === 'GET' || path.includes('{'))) continue;
        const { required = [] } = z.toJSONSchema(operations[name].input, { io: 'input' });
        if (required.length === 0) continue;
        for (const hidden of ['__proto__', 'constructor', 'prototype', '$set', 'input', 'json']) {
          const text = `{${JSON.stringify(hidden)}:${JSON.stringify(right[name])}}`;
          const request = requestOf(wire, name, right[name]);
          const response = await send(server, {
            ...request,
            authorization: authorizationOf(name),
            ...(request.method === 'GET'
              ? { path: `/trpc/${name}?input=${encodeURIComponent(text)}` }
              : { body: text, headers: JSON_TYPE }),
          });
          const body = unwrapped(wire, response.json);
          expect([name, hidden, response.status, body.error_code]).toEqual([
            ...[name, hidden, 400, 'parameter_invalid'],
          ]);
        }
      }
      expect(await everything()).toEqual(before);
    });

    test(`is an unknown code over ${wire}, whatever the text`, async () => {
      for (const text of [
        '\0',
        `${code}\0`,
        '\ud800',
        '__proto__',
        '{"$ne":null}',
        ` ${code}`,
        `${code}\n`,
        code.toUpperCase(),
        'x'.repeat(16_000),
      ]) {
        const response = await invoke(
          server,
          wire,
          'grants.convert',
          { code: text },
          linked.bearer,
        );
        expect([text, response.status, response.body.error_code]).toEqual([
          text,
          400,
          'code_not_found',
        ]);
      }
    });
  }

  test.each([
    ['account_id[$ne]=', []],
    ['account_id[]=ID', []],
    ['account_id.$ne=ID', []],
    ['account_id=ID&account_id=ID', ['account_id']],
    ['account_id=%00', ['account_id']],
    ['account_id=%FF', ['account_id']],
    ['account_id=%ED%A0%80', ['account_id']],
    ['account_id=ID&limit=1&limit=1', ['limit']],
    ['account_id=ID&limit=1e1', ['limit']],
    ['account_id=ID&limit=%2B1', ['limit']],
    ['account_id=ID&limit=', ['limit']],
    ['account_id=ID&limit=NaN', ['limit']],
    ['account_id=ID&cursor=%7B%22%24gt%22%3A%22%22%7D', ['cursor']],
    ['__proto__[account_id]=ID', []],
    ['constructor.prototype.account_id=ID', []],
  ])('in the query %s is refused', async (query, path) => {
    const request = {
      method: 'GET',
      path: `/admin/grants?${query.replaceAll('ID', linked.account_id)}`,
      authorization: operator,
    };
    const { status, json } = await send(server, request);
    expect([status, json.error_code, json.issues[0].path]).toEqual([
      ...[400, 'parameter_invalid', path],
    ]);
  });

  test.each([
    'Bearer undefined',
    'Bearer null',
    'Bearer [object Object]',
    'Bearer {"$ne":null}',
    'Bearer __proto__',
    'Bearer \u00ff\u00fe',
    `Bearer ${'x'.repeat(12_000)}`,
    'Basic OjoAOgA=',
    'Basic e30=',
    'Basic //////',
    'Basic eyIkbmUiOm51bGx9OnsiJG5lIjpudWxsfQ==',
  ])('in the header "Authorization: %s" is refused', async (authorization) => {
    for (const [wire, name] of wires.flatMap((wire) =>
      names.map((name) => [wire, name] as const),
    )) {
      const request = requestOf(wire, name, right[name]);
      const { status, json } = await send(server, { ...request, authorization });
      expect([status, unwrapped(wire, json).error_code]).toEqual([401, 'credentials_invalid']);
    }
  });

  // This test must be the last: it uses up the code, the grant and the secret of the others.
  test('has changed nothing: the code, the grant and the secret still work', async () => {
    const got = await succeed(server, 'account.get', {}, asBearer(grant));
    expect(got.id).toBe(linked.account_id);
    expect(await linked.convert(code)).toMatchObject({ revoked: false });
  });
});
