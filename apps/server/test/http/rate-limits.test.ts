import { randomUUID } from 'node:crypto';
import { DomainError } from '@latchkey/domain/domain-error';
import { errorDefinition } from '@latchkey/schema';
import { expect, test, vi } from 'vitest';
import {
  type HttpResponse,
  invoke,
  JSON_TYPE,
  requestOf,
  send,
  succeed,
  unwrapped,
  wires,
} from './call.ts';
import { describeOnAnyStore, sqliteDatabase } from './databases.ts';
import { asBasic, asBearer, linkedApplication } from './linked-application.ts';
import { refusalsOf } from './refusals-of.ts';
import { operator, startTestServer, useServer } from './running-server.ts';
import { unknownCredential } from './unknown-credential.ts';

/** The headers of a refusal that describe the limit. */
function limitOf({ headers }: HttpResponse) {
  const names = ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];
  return names.map((name) => headers.get(name));
}

/** Returns a new address each time, so that each test has its own count. */
let addresses = 0;
const newAddress = () => `198.51.${Math.floor(++addresses / 250)}.${addresses % 250}`;

describeOnAnyStore('failed authentications', (fresh) => {
  const server = useServer(fresh, { RATE_LIMIT: 'authentications=3/60', TRUST_PROXY: 'true' });

  for (const wire of wires) {
    const from = async (
      address: string,
      authorization: string | undefined,
      name: 'account.get' | 'grants.convert' | 'admin.applications.list' = 'account.get',
      input = {},
    ) => {
      const request = requestOf(wire, name, input);
      const headers = { ...request.headers, 'x-forwarded-for': address };
      const response = await send(server, { ...request, headers, authorization });
      return { ...response, body: unwrapped(wire, response.json) };
    };
    const statusesOf = async (address: string, ...authorizations: (string | undefined)[]) => {
      const statuses: number[] = [];
      for (const authorization of authorizations) {
        statuses.push((await from(address, authorization)).status);
      }
      return statuses;
    };

    test(`over ${wire}: too many from one address are 429 until the window ends`, async () => {
      const address = newAddress();
      const { application_id } = await linkedApplication(server);
      const bad = `Bearer ${unknownCredential('applicationSecret', application_id)}`;
      expect((await from(address, bad, 'grants.convert')).status).toBe(401);
      expect((await from(address, `${operator}x`, 'admin.applications.list')).status).toBe(401);
      server.advance(30_500);
      expect((await from(address, 'Basic eA==')).status).toBe(401);

      const refused = await from(address, bad, 'grants.convert');
      expect(refused.status).toBe(429);
      expect(limitOf(refused)).toEqual(['30', '3', '0', '30']);
      expect(refused.headers.get('www-authenticate')).toBeNull();
      expect(refused.body).toStrictEqual({
        error: 'temporarily_unavailable',
        error_description: errorDefinition('rate_limited').description,
        error_code: 'rate_limited',
        error_uri: `${server.url}/docs/errors#rate_limited`,
        request_id: refused.headers.get('x-request-id'),
      });

      server.advance(29_500);
      expect(await statusesOf(address, 'x', 'x', 'x', 'x')).toEqual([401, 401, 401, 429]);
    });

    test(`over ${wire}: valid credentials pass from an address that is refused`, async () => {
      const linked = await linkedApplication(server);
      const grant = await linked.link();
      const { code } = await linked.issue();
      const address = newAddress();
      expect(await statusesOf(address, 'x', 'x', 'x', 'x')).toEqual([401, 401, 401, 429]);

      expect((await from(address, linked.bearer, 'grants.convert', { code })).status).toBe(200);
      expect(await statusesOf(address, asBearer(grant), asBasic(grant))).toEqual([200, 200]);
      expect((await from(address, operator, 'admin.applications.list')).status).toBe(200);
      // The response tells neither what was wrong nor whether there were credentials.
      const wrong = `Bearer ${unknownCredential('grantSecret', grant.grant_id)}`;
      expect(await statusesOf(address, wrong, linked.bearer, undefined)).toEqual([429, 429, 429]);
      expect(await statusesOf(newAddress(), 'x')).toEqual([401]);
    });

    test(`over ${wire}: right credentials of a disabled application are no failure`, async () => {
      const { application_id, bearer, link } = await linkedApplication(server);
      const grant = await link();
      await succeed(server, 'admin.applications.disable', { application_id }, operator);
      const address = newAddress();
      const right = [asBearer(grant), asBasic(grant), asBearer(grant), asBearer(grant)];
      const disabled = right.map(() => 403);
      expect(await statusesOf(address, ...right)).toEqual(disabled);
      expect((await from(address, bearer, 'grants.convert')).status).toBe(403);
      expect(await statusesOf(address, 'x', 'x', 'x', 'x')).toEqual([401, 401, 401, 429]);
      // Over the limit too, they are told what is the matter.
      expect(await statusesOf(address, ...right)).toEqual(disabled);
      expect((await from(address, bearer, 'grants.convert')).status).toBe(403);
    });

    test(`over ${wire}: above the limit, only a known secret costs a read that decides`, async ({
      onTestFinished,
    }) => {
      const { store } = server.service;
      const linked = await linkedApplication(server);
      const grant = await linked.link();
      const unknown = [
        [`Bearer ${unknownCredential('grantSecret', grant.grant_id)}`, 'account.get'],
        [
          `Bearer ${unknownCredential('applicationSecret', linked.application_id)}`,
          'grants.convert',
        ],
      ] as const;
      const address = newAddress();
      expect(await statusesOf(address, 'x', 'x', 'x')).toEqual([401, 401, 401]);
      const reads = [
        vi.spyOn(store, 'authenticateGrant'),
        vi.spyOn(store, 'authenticateApplication'),
      ];
      const mayBeStale = () =>
        reads.flatMap(({ mock }) => mock.calls.map(([, options]) => options?.mayBeStale === true));
      onTestFinished(() => reads.forEach((read) => void read.mockRestore()));

      for (const [secret, name] of unknown) {
        expect((await from(address, secret, name)).status).toBe(429);
      }
      expect(mayBeStale()).toEqual([true, true]);
      expect((await from(address, asBearer(grant))).status).toBe(200);
      expect(mayBeStale()).toEqual([true, true, false, true]);
    });

    test(`over ${wire}: an unexpected error is a failure, until the caller is known`, async ({
      onTestFinished,
    }) => {
      const { store } = server.service;
      const { bearer } = await linkedApplication(server);
      const find = vi.spyOn(store, 'authenticateApplication');
      onTestFinished(() => find.mockRestore());
      find.mockRejectedValue(new Error('unexpected'));
      server.lines.length = 0;
      const address = newAddress();
      const input = { code: unknownCredential('code') };
      const statuses: number[] = [];
      for (let i = 0; i < 4; i++) {
        statuses.push((await from(address, bearer, 'grants.convert', input)).status);
      }
      expect(statuses).toEqual([500, 500, 500, 429]);
      // Of what is over the limit, no stack is written.
      const stacks = server.lines.filter((line) => JSON.parse(line).msg === 'request failed');
      expect(stacks).toHaveLength(3);

      find.mockRestore();
      const redeem = vi.spyOn(store, 'redeemCode').mockRejectedValue(new Error('unexpected'));
      onTestFinished(() => redeem.mockRestore());
      const known = newAddress();
      const { code } = await (await linkedApplication(server)).issue();
      for (let i = 0; i < 5; i++) {
        expect((await from(known, bearer, 'grants.convert', { code })).status).toBe(500);
      }
    });

    test(`over ${wire}: a request without credentials is no attempt`, async () => {
      const without = Array<undefined>(5).fill(undefined);
      expect(await statusesOf(newAddress(), ...without)).toEqual(without.map(() => 401));
    });

    test(`over ${wire}: an IPv6 address counts as its /64, and a port is ignored`, async () => {
      for (const same of [
        ['2001:db8:0:7::1', '2001:db8:0:7:ffff::2', '[2001:db8::7:0:0:0:3]:443'],
        ['203.0.113.9', '203.0.113.9:50123', '::ffff:203.0.113.9'],
      ]) {
        // The client may have made up the first addresses in the header.
        for (const [n, address] of same.entries()) {
          expect((await from(`10.0.0.${n}, ${address}`, 'x')).status).toBe(401);
        }
        expect((await from(same[0] ?? '', 'x')).status).toBe(429);
        server.advance(60_000);
      }
      expect(await statusesOf('2001:db8:0:7::1', 'x', 'x', 'x', 'x')).toEqual([401, 401, 401, 429]);
      expect(await statusesOf('2001:db8:0:8::1', 'x')).toEqual([401]);
      server.advance(60_000);
    });
  }

  test('count once for each procedure of a batch', async () => {
    const headers = { 'x-forwarded-for': newAddress() };
    const path = '/trpc/account.get,account.get,account.grant?batch=1';
    const batch = () => send(server, { method: 'GET', path, headers, authorization: 'x' });
    expect((await batch()).status).toBe(401);
    const { status, json } = await batch();
    expect(status).toBe(207);
    expect(json.map(({ error }: HttpResponse['json']) => error.data.httpStatus)).toEqual([
      401, 401, 429,
    ]);
  });

  test('do not limit routes without credentials', async () => {
    const headers = { 'x-forwarded-for': newAddress() };
    const get = async (path: string) =>
      (await send(server, { method: 'GET', path, headers, authorization: 'x' })).status;
    for (let i = 0; i < 4; i++) await get('/v1/account');
    expect(await get('/v1/account')).toBe(429);
    expect([await get('/healthz'), await get('/openapi.json')]).toEqual([200, 200]);
    expect([await get('/nowhere'), await get('/oauth/convert')]).toEqual([404, 405]);
  });

  test('are logged once a window, in addition to the lines of the requests', async () => {
    server.lines.length = 0;
    const address = newAddress();
    const headers = { 'x-forwarded-for': address };
    for (let i = 0; i < 6; i++) {
      await send(server, { method: 'GET', path: '/v1/grant', headers, authorization: 'x' });
    }
    const lines = server.lines.map((line) => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg === 'request')).toHaveLength(6);
    expect(lines.filter(({ msg }) => !['request', 'audit'].includes(msg))).toMatchObject([
      { msg: 'a rate limit was reached', level: 40, limit: 'authentications', key: address },
    ]);
  });
});

describeOnAnyStore('failed authentications without a proxy', (fresh) => {
  const server = useServer(fresh, { RATE_LIMIT: 'authentications=3/60' });

  test('count by the address of the connection, whatever the client sends', async () => {
    const statuses: number[] = [];
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']) {
      const headers = { 'x-forwarded-for': address };
      const request = { method: 'GET', path: '/v1/account', headers, authorization: 'x' };
      statuses.push((await send(server, request)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429]);
  });
});

describeOnAnyStore('failed converts', (fresh) => {
  const server = useServer(fresh, { RATE_LIMIT: 'exchanges=3/60,requests=6/60' });

  for (const wire of wires) {
    test(`over ${wire}: too many of an application are 429, and valid codes pass`, async () => {
      const linked = await linkedApplication(server);
      const other = await linkedApplication(server);
      const { code: expired } = await linked.issue();
      const { code: used } = await linked.issue();
      await linked.convert(used);
      server.advance(300_000);
      const { code: theirs } = await other.issue();
      const convert = async (code: string, { bearer } = linked) => {
        const { status, body } = await invoke(server, wire, 'grants.convert', { code }, bearer);
        return status === 200 ? 200 : body.error_code;
      };
      expect(await convert(expired)).toBe('code_expired');
      expect(await convert(used)).toBe('code_already_used');
      expect(await convert(theirs)).toBe('code_not_found');

      const again = { code: unknownCredential('code') };
      const refused = await invoke(server, wire, 'grants.convert', again, linked.bearer);
      expect([refused.status, refused.body.error_code]).toEqual([429, 'rate_limited']);
      expect(limitOf(refused)).toEqual(['60', '3', '0', '60']);

      const { code } = await linked.issue();
      expect(await convert(code)).toBe(200);
      expect(await convert(code)).toBe('rate_limited');
      expect(await convert('garbage', other)).toBe('code_not_found');
      expect(await convert(theirs, other)).toBe(200);
      expect(await convert(expired)).toBe('rate_limited');
      server.advance(60_000);
      expect(await convert('garbage')).toBe('code_not_found');
    });

    test(`over ${wire}: made-up codes don't use up the requests of an application`, async () => {
      const linked = await linkedApplication(server);
      for (let i = 0; i < 20; i++) {
        const code = unknownCredential('code');
        const { status } = await invoke(server, wire, 'grants.convert', { code }, linked.bearer);
        expect(status).toBe(i < 3 ? 400 : 429);
      }
      expect(await linked.link()).toMatchObject({ revoked: false });
    });

    test(`over ${wire}: exchanges that the service fails don't use up the requests either`, async () => {
      const { bearer, issue } = await linkedApplication(server);
      const { code } = await issue();
      const redeem = vi.spyOn(server.service.store, 'redeemCode');
      redeem.mockRejectedValue(new DomainError('store_unavailable'));
      for (let i = 0; i < 8; i++) {
        const { status } = await invoke(server, wire, 'grants.convert', { code }, bearer);
        expect(status).toBe(503);
      }
      redeem.mockRestore();
      expect((await invoke(server, wire, 'grants.convert', { code }, bearer)).status).toBe(200);
    });

    test(`over ${wire}: replays of a used code don't use up the requests either`, async () => {
      const linked = await linkedApplication(server);
      const { code } = await linked.issue();
      await linked.convert(code);
      for (let i = 0; i < 20; i++) {
        const { status } = await invoke(server, wire, 'grants.convert', { code }, linked.bearer);
        expect(status).toBe(i < 3 ? 400 : 429);
      }
      expect(await linked.link()).toMatchObject({ revoked: false });
    });
  }
});

describeOnAnyStore('all requests', (fresh) => {
  const server = useServer(fresh, { RATE_LIMIT: 'requests=4/60' });

  for (const wire of wires) {
    test(`over ${wire}: too many of an application are 429, and nothing is done`, async () => {
      const linked = await linkedApplication(server);
      const other = await linkedApplication(server);
      const grant = await linked.link();
      const { code } = await linked.issue();
      const { grant_id } = grant;
      const call = async (name: 'grants.convert' | 'grants.revoke' | 'account.get', input = {}) => {
        const authorization = name === 'account.get' ? asBearer(grant) : linked.bearer;
        const { status } = await invoke(server, wire, name, input, authorization);
        return status;
      };
      expect(await call('account.get')).toBe(200);
      expect(await call('grants.revoke', { grant_id: linked.account_id })).toBe(404);
      expect(await call('grants.convert', { code: '' })).toBe(400);
      expect(await call('account.get')).toBe(200);

      const refused = await invoke(server, wire, 'grants.convert', { code }, linked.bearer);
      expect([refused.status, refused.body.error_code]).toEqual([429, 'rate_limited']);
      expect(limitOf(refused)).toEqual(['60', '4', '0', '60']);
      expect(await call('grants.revoke', { grant_id })).toBe(429);
      expect(await call('account.get')).toBe(429);
      // The input is validated first.
      expect(await call('grants.convert', { code: '' })).toBe(400);
      expect(await other.link()).toMatchObject({ revoked: false });

      server.advance(60_000);
      expect(await call('account.get')).toBe(200);
      expect(await call('grants.convert', { code })).toBe(200);
    });
  }

  test('by the operator have no limit', async () => {
    for (let i = 0; i < 10; i++) {
      expect((await invoke(server, 'REST', 'admin.grants.list', {}, operator)).status).toBe(400);
      expect((await invoke(server, 'REST', 'admin.applications.list', {}, operator)).status).toBe(
        200,
      );
    }
  });

  test('in a batch each count', async () => {
    const linked = await linkedApplication(server);
    const { json } = await send(server, {
      method: 'POST',
      path: `/trpc/${Array(6).fill('grants.revoke').join(',')}?batch=1`,
      authorization: linked.bearer,
      headers: JSON_TYPE,
      body: JSON.stringify({ ...Array(6).fill({ grant_id: linked.account_id }) }),
    });
    expect(json.map(({ error }: HttpResponse['json']) => error.data.httpStatus)).toEqual([
      404, 404, 404, 404, 429, 429,
    ]);
  });
});

describeOnAnyStore('a batch that reaches two limits', (fresh) => {
  const server = useServer(fresh, { RATE_LIMIT: 'exchanges=1/600,requests=2/60' });

  test('reports the limit with the longer wait', async () => {
    const linked = await linkedApplication(server);
    const batch = (names: string) =>
      send(server, {
        method: 'POST',
        path: `/trpc/${names}?batch=1`,
        authorization: linked.bearer,
        headers: JSON_TYPE,
        body: JSON.stringify({ ...Array(9).fill({ code: 'x', grant_id: linked.account_id }) }),
      });
    expect(limitOf(await batch('grants.convert'))).toEqual([null, null, null, null]);
    const response = await batch('grants.convert,grants.revoke,grants.revoke');
    const statuses = response.json.map(({ error }: HttpResponse['json']) => error.data.httpStatus);
    expect([response.status, ...statuses]).toEqual([207, 429, 404, 429]);
    expect(limitOf(response)).toEqual(['600', '1', '0', '600']);
  });
});

describeOnAnyStore('without its store, a limit', (fresh) => {
  const server = useServer(fresh, { RATE_LIMIT: 'authentications=3/60' });

  test('is counted in the process alone and fails no request', async () => {
    const { bearer } = await linkedApplication(server);
    await server.service.store.close();
    const attempts = vi.spyOn(server.service.store, 'addToCount');
    const status = async (authorization: string) =>
      (await send(server, { method: 'POST', path: '/oauth/revoke', authorization })).status;
    expect(await status('x')).toBe(401);
    const alone = () => server.lines.filter((line) => line.includes('could not be shared'));
    const twice = () => expect(attempts.mock.calls.length).toBeGreaterThan(1);
    await vi.waitFor(twice, { timeout: 20_000 });
    expect([await status('x'), await status('x'), await status('x')]).toEqual([401, 401, 429]);
    // A client whose credentials may be valid learns that the store is unavailable.
    expect(await status(bearer)).toBe(503);
    expect(alone()).toHaveLength(1);
  });
});

test('the limits are on unless RATE_LIMIT is off', async () => {
  for (const [RATE_LIMIT, last] of [
    ['', 429],
    ['off', 401],
  ] as const) {
    const database = await sqliteDatabase();
    const server = await startTestServer(database.url, { RATE_LIMIT });
    const fail = async () =>
      (await send(server, { method: 'GET', path: '/v1/account', authorization: 'x' })).status;
    for (let hundred = 0; hundred < 10; hundred++) {
      expect(new Set(await Promise.all(Array.from({ length: 100 }, fail)))).toEqual(new Set([401]));
    }
    expect(await fail()).toBe(last);
    await server.close();
    await database.remove();
  }
});

describeOnAnyStore('a refusal by a limit', (fresh) => {
  const server = useServer(fresh, {
    RATE_LIMIT: 'authentications=1/60,exchanges=1/60,requests=2/60',
  });

  test.each(wires)('over %s is in the audit with its limit', async (wire) => {
    server.advance(60_000);
    const linked = await linkedApplication(server);
    const code = unknownCredential('code');
    const calls = [
      ['account.get', {}, 'x'],
      ['account.get', {}, 'x'],
      ['grants.convert', { code }, linked.bearer],
      ['grants.convert', { code }, linked.bearer],
      ['grants.revoke', { grant_id: randomUUID() }, linked.bearer],
      ['grants.revoke', { grant_id: randomUUID() }, linked.bearer],
      ['grants.revoke', { grant_id: randomUUID() }, linked.bearer],
    ] as const;
    const reasons: (string | null | undefined)[] = [];
    for (const [name, input, as] of calls) {
      const { status, headers } = await invoke(server, wire, name, input, as);
      if (status !== 429) continue;
      await server.service.audit.flush();
      const [found] = await refusalsOf(server.service, headers.get('x-request-id') ?? '');
      reasons.push(found?.reason);
    }
    expect(reasons).toEqual([
      'too_many_failed_authentications',
      'too_many_failed_exchanges',
      'too_many_requests',
    ]);
  });
});
