import { beforeAll, expect, test } from 'vitest';
import { JSON_TYPE, type Json, send } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { ADA, asBearer, type LinkedApplication, linkedApplication } from './linked-application.ts';
import { operator, useServer } from './running-server.ts';

describeOnAnyStore('a batch', (fresh) => {
  const server = useServer(fresh);
  let linked: LinkedApplication;
  beforeAll(async () => {
    linked = await linkedApplication(server);
  });

  const post = (
    names: string,
    inputs: unknown,
    authorization: string | undefined = linked.bearer,
  ) =>
    send(server, {
      method: 'POST',
      path: `/trpc/${names}?batch=1`,
      authorization,
      headers: JSON_TYPE,
      body: JSON.stringify(inputs),
    });
  const get = (names: string, inputs: unknown, authorization: string) =>
    send(server, {
      method: 'GET',
      path: `/trpc/${names}?batch=1&input=${encodeURIComponent(JSON.stringify(inputs))}`,
      authorization,
    });
  const codesOf = (json: Json[]) =>
    json.map(({ error, result }) => (result ? 200 : error.data.error_code));

  test('whose calls all succeed is 200', async () => {
    const [first, second] = [await linked.issue(), await linked.issue()];
    const { status, json } = await post('grants.convert,grants.convert', {
      0: { code: first.code },
      1: { code: second.code },
    });
    expect(status).toBe(200);
    expect(json.map(({ result }: Json) => result.data.grant_id)).toEqual([
      first.grant_id,
      second.grant_id,
    ]);
  });

  test('whose calls have different results is 207, with the results in order', async () => {
    const { code, grant_id } = await linked.issue();
    const { status, json, headers } = await post(
      'grants.convert,nobody.knows,grants.convert,account.get,grants.revoke,grants.revoke',
      { 0: { code }, 2: { code: 'garbage' }, 4: { grant_id: 'x' }, 5: 'x' },
    );
    expect(status).toBe(207);
    expect(codesOf(json)).toEqual([
      200,
      'route_not_found',
      'code_not_found',
      'method_not_allowed',
      'parameter_invalid',
      'body_malformed',
    ]);
    expect(json[0].result.data.grant_id).toBe(grant_id);
    expect(json[1].error.data.path).toBe('nobody.knows');
    expect(headers.get('allow')).toBe('GET, HEAD');
    expect(headers.get('content-type')).toBe('application/json; charset=UTF-8');
    const request_id = headers.get('x-request-id');
    expect(json.slice(1).map(({ error }: Json) => error.data.request_id)).toEqual(
      Array(5).fill(request_id),
    );
  });

  test('of 16 calls is accepted; one of 17 gets a single error and no call runs', async () => {
    const calls = (count: number) => Array(count).fill('grants.revoke').join(',');
    const most = await post(calls(16), {});
    expect([most.status, most.json.length]).toEqual([400, 16]);
    server.lines.length = 0;
    const over = await post(calls(17), {}, undefined);
    expect(over.status).toBe(413);
    expect(over.json.error.data).toMatchObject({
      error_code: 'batch_too_large',
      code: 'PAYLOAD_TOO_LARGE',
      httpStatus: 413,
    });
    const messages = server.lines.map((line) => JSON.parse(line).msg);
    expect(messages).toEqual(['request']);
  });

  test('whose calls all fail alike has their status', async () => {
    const two = 'grants.convert,grants.convert';
    const { status, json } = await post(two, { 0: { code: 'x' }, 1: {} });
    expect(status).toBe(400);
    expect(codesOf(json)).toEqual(['code_not_found', 'parameter_invalid']);
    expect((await post('a,b', {})).status).toBe(404);
  });

  test('without credentials is 401 in every call, and its body is not read', async () => {
    const request = {
      method: 'POST',
      path: '/trpc/grants.convert,admin.applications.create,grants.revoke?batch=1',
      headers: { 'content-type': 'text/plain' },
      body: '['.repeat(20_000),
    };
    const missing = await send(server, request);
    expect(missing.status).toBe(401);
    expect(codesOf(missing.json)).toEqual(Array(3).fill('credentials_missing'));
    expect(missing.headers.get('www-authenticate')).toBe('Bearer realm="latchkey"');
    const invalid = await send(server, { ...request, authorization: 'Bearer lk_app_x' });
    expect(codesOf(invalid.json)).toEqual(Array(3).fill('credentials_invalid'));
    expect(invalid.headers.get('www-authenticate')).toBe(
      'Bearer realm="latchkey", error="invalid_token"',
    );
  });

  test('authenticates each of its calls', async () => {
    const { status, json } = await post('grants.convert,admin.applications.create', {
      0: { code: 'x' },
      1: { name: 'Acme' },
    });
    expect(status).toBe(207);
    expect(codesOf(json)).toEqual(['code_not_found', 'credentials_invalid']);
    const { application_id } = linked;
    const { disabled } = await server.service.store
      .findApplication(application_id)
      .then((application) => application ?? { disabled: null });
    expect(disabled).toBe(false);
  });

  test('converts a code once even if it contains the code twice', async () => {
    const { code } = await linked.issue();
    const { status, json } = await post('grants.convert,grants.convert', {
      0: { code },
      1: { code },
    });
    expect(status).toBe(207);
    expect(codesOf(json).sort()).toEqual([200, 'code_already_used']);
  });

  test('has one size limit for all of its calls', async () => {
    const inputs = { 0: { code: 'x'.repeat(9000) }, 1: { code: 'y'.repeat(9000) } };
    const { status, json } = await post('grants.convert,grants.convert', inputs);
    expect(status).toBe(413);
    expect(codesOf(json)).toEqual(['body_too_large', 'body_too_large']);
  });

  test.each([
    ['[]', 'body_malformed'],
    ['[{"code":"x"}]', 'body_malformed'],
    ['null', 'body_malformed'],
    ['"x"', 'body_malformed'],
    ['{', 'body_malformed'],
    ['{}', 'body_malformed'],
    ['{"0":null}', 'body_malformed'],
    ['{"0":[]}', 'body_malformed'],
    ['{"__proto__":{"0":{"code":"x"}}}', 'body_malformed'],
    ['{"0":{"code":"x"},"7":1}', 'code_not_found'],
  ])('whose body is %s is %s', async (body, error_code) => {
    const { status, json } = await send(server, {
      method: 'POST',
      path: '/trpc/grants.convert?batch=1',
      authorization: linked.bearer,
      headers: JSON_TYPE,
      body,
    });
    expect(status).toBe(400);
    expect(codesOf(json)).toEqual([error_code]);
  });

  test('of queries is a GET', async () => {
    const grant = await linked.link();
    const { status, json } = await get('account.get,account.grant', {}, asBearer(grant));
    expect(status).toBe(200);
    expect(json[0].result.data.username).toBe(ADA.username);
    expect(json[1].result.data.grant_id).toBe(grant.grant_id);
    const bare = await send(server, {
      method: 'GET',
      path: '/trpc/account.get,account.grant?batch=1',
      authorization: asBearer(grant),
    });
    expect(bare.text).toBe(JSON.stringify(json));
  });

  test('may encode its commas and dots', async () => {
    const { account_id } = linked;
    const names = 'admin%2Eaccounts%2Eget%2Cadmin.applications.list';
    const { status, json } = await get(names, { 0: { account_id }, 1: { limit: 1 } }, operator);
    expect(status).toBe(200);
    expect(json[0].result.data.id).toBe(account_id);
    expect(json[1].result.data.data).toHaveLength(1);
  });

  test('of one call gets a list of one result', async () => {
    const { account_id } = linked;
    const { json } = await get('admin.accounts.get', { 0: { account_id } }, operator);
    expect(json).toEqual([{ result: { data: expect.objectContaining({ id: account_id }) } }]);
  });

  test.each([
    ['input=%7B', 'body_malformed'],
    ['input=', 'body_malformed'],
    ['input=null', 'body_malformed'],
    ['input=[]', 'body_malformed'],
    ['input={}', 'parameter_invalid'],
    ['', 'body_malformed'],
  ])('no batch: a single query with %s is %s', async (query, error_code) => {
    const path = `/trpc/admin.accounts.get?${query}`;
    const { status, json } = await send(server, { method: 'GET', path, authorization: operator });
    expect([status, json.error.data.error_code]).toEqual([400, error_code]);
  });

  test('no batch: without batch=1, a comma is part of an unknown name', async () => {
    const path = '/trpc/account.get,account.grant';
    const { status, json } = await send(server, { method: 'GET', path });
    expect([status, json.error.data.error_code]).toEqual([404, 'route_not_found']);
  });
});
