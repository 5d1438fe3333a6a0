import { randomUUID } from 'node:crypto';
import { errorDefinition } from '@latchkey/schema';
import { expect, test, vi } from 'vitest';
import { explainRequest } from '../../src/audit/explain.ts';
import { type Answer, invoke, JSON_TYPE, requestOf, send, unwrapped, wires } from './call.ts';
import { describeOnEachStore, sqliteDatabase } from './databases.ts';
import { unknownCredential } from './error-cases.ts';
import { asBasic, asBearer, linkedApplication } from './linked-application.ts';
import { operator, startTestServer, useServer } from './running-server.ts';

/** The headers of a refusal, as far as they tell of the limit. */
function limitOf({ headers }: Answer) {
  const names = ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];
  return names.map((name) => headers.get(name));
}

/** A new address each time, so that each test has its own count. */
let addresses = 0;
const newAddress = () => `198.51.${Math.floor(++addresses / 250)}.${addresses % 250}`;

describeOnEachStore('failed authentications', (fresh) => {
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
      const answer = await send(server, { ...request, headers, authorization });
      return { ...answer, body: unwrapped(wire, answer.json) };
    };
    const statusesOf = async (address: string, ...authorizations: (string | undefined)[]) => {
      const statuses: number[] = [];
      for (const authorization of authorizations) {
        statuses.push((await from(address, authorization)).status);
      }
      return statuses;
    };

    test(`over ${wire}: too many of an address are 429, until its window has ended`, async () => {
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

    test(`over ${wire}: good credentials pass from an address that is refused`, async () => {
      const linked = await linkedApplication(server);
      const grant = await linked.link();
      const { code } = await linked.issue();
      const address = newAddress();
      expect(await statusesOf(address, 'x', 'x', 'x', 'x')).toEqual([401, 401, 401, 429]);

      expect((await from(address, linked.bearer, 'grants.convert', { code })).status).toBe(200);
      expect(await statusesOf(address, asBearer(grant), asBasic(grant))).toEqual([200, 200]);
      expect((await from(address, operator, 'admin.applications.list')).status).toBe(200);
      // What of the credentials was wrong is not told, nor whether there were any.
      const wrong = `Bearer ${unknownCredential('grantSecret', grant.grant_id)}`;
      expect(await statusesOf(address, wrong, linked.bearer, undefined)).toEqual([429, 429, 429]);
      expect(await statusesOf(newAddress(), 'x')).toEqual([401]);
    });

    test(`over ${wire}: a request without credentials is no attempt`, async () => {
      const without = Array<undefined>(5).fill(undefined);
      expect(await statusesOf(newAddress(), ...without)).toEqual(without.map(() => 401));
    });

    test(`over ${wire}: an IPv6 caller is its /64, and an address with a port the address`, async () => {
      for (const same of [
        ['2001:db8:0:7::1', '2001:db8:0:7:ffff::2', '[2001:db8::7:0:0:0:3]:443'],
        ['203.0.113.9', '203.0.113.9:50123', '::ffff:203.0.113.9'],
      ]) {
        // What comes first in the header is the caller's own, and may be made up.
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

  test('each procedure of a batch that fails is one', async () => {
    const headers = { 'x-forwarded-for': newAddress() };
    const path = '/trpc/account.get,account.get,account.grant?batch=1';
    const batch = () => send(server, { method: 'GET', path, headers, authorization: 'x' });
    expect((await batch()).status).toBe(401);
    const { status, json } = await batch();
    expect(status).toBe(207);
    expect(json.map(({ error }: Answer['json']) => error.data.httpStatus)).toEqual([401, 401, 429]);
  });

  test('routes without credentials have no limit', async () => {
    const headers = { 'x-forwarded-for': newAddress() };
    const get = async (path: string) =>
      (await send(server, { method: 'GET', path, headers, authorization: 'x' })).status;
    for (let i = 0; i < 4; i++) await get('/v1/account');
    expect(await get('/v1/account')).toBe(429);
    expect([await get('/healthz'), await get('/openapi.json')]).toEqual([200, 200]);
    expect([await get('/nowhere'), await get('/oauth/convert')]).toEqual([404, 405]);
  });

  test('are told in the log once a window, besides the lines of the requests', async () => {
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

describeOnEachStore('failed authentications without a proxy', (fresh) => {
  const server = useServer(fresh, { RATE_LIMIT: 'authentications=3/60' });

  test('are counted by the address of the connection, whatever the caller says', async () => {
    const statuses: number[] = [];
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']) {
      const headers = { 'x-forwarded-for': address };
      const request = { method: 'GET', path: '/v1/account', headers, authorization: 'x' };
      statuses.push((await send(server, request)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429]);
  });
});

describeOnEachStore('failed exchanges', (fresh) => {
  const server = useServer(fresh, { RATE_LIMIT: 'exchanges=3/60,requests=6/60' });

  for (const wire of wires) {
    test(`over ${wire}: too many of an application are 429, and good codes pass`, async () => {
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
      expect(await convert('garbage')).toBe('code_not_found');

      const again = { code: unknownCredential('code') };
      const refused = await invoke(server, wire, 'grants.convert', again, linked.bearer);
      expect([refused.status, refused.body.error_code]).toEqual([429, 'rate_limited']);
      expect(limitOf(refused)).toEqual(['60', '3', '0', '60']);

      const { code } = await linked.issue();
      expect(await convert(code)).toBe(200);
      expect(await convert(code)).toBe('code_already_used');
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
  }
});

describeOnEachStore('all requests', (fresh) => {
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
      // The input is looked at before.
      expect(await call('grants.convert', { code: '' })).toBe(400);
      expect(await other.link()).toMatchObject({ revoked: false });

      server.advance(60_000);
      expect(await call('account.get')).toBe(200);
      expect(await call('grants.convert', { code })).toBe(200);
    });
  }

  test('of the operator have no limit', async () => {
    for (let i = 0; i < 10; i++) {
      expect((await invoke(server, 'REST', 'admin.grants.list', {}, operator)).status).toBe(400);
      expect((await invoke(server, 'REST', 'admin.applications.list', {}, operator)).status).toBe(
        200,
      );
    }
  });

  test('that a batch has are each counted', async () => {
    const linked = await linkedApplication(server);
    const { json } = await send(server, {
      method: 'POST',
      path: `/trpc/${Array(6).fill('grants.revoke').join(',')}?batch=1`,
      authorization: linked.bearer,
      headers: JSON_TYPE,
      body: JSON.stringify({ ...Array(6).fill({ grant_id: linked.account_id }) }),
    });
    expect(json.map(({ error }: Answer['json']) => error.data.httpStatus)).toEqual([
      404, 404, 404, 404, 429, 429,
    ]);
  });
});

describeOnEachStore('a batch that meets two limits', (fresh) => {
  const server = useServer(fresh, { RATE_LIMIT: 'exchanges=1/600,requests=2/60' });

  test('tells the longer wait, and the limit that it is of', async () => {
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
    const answer = await batch('grants.convert,grants.revoke,grants.revoke');
    const statuses = answer.json.map(({ error }: Answer['json']) => error.data.httpStatus);
    expect([answer.status, ...statuses]).toEqual([207, 429, 404, 429]);
    expect(limitOf(answer)).toEqual(['600', '1', '0', '600']);
  });
});

describeOnEachStore('without its store, a limit', (fresh) => {
  const server = useServer(fresh, { RATE_LIMIT: 'authentications=3/60' });

  test('is counted by the process alone, and fails no request', async () => {
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
    // Who may be right is told what is the matter.
    expect(await status(bearer)).toBe(503);
    expect(alone()).toHaveLength(1);
  });
});

test('the limits are on unless they are off', { timeout: 60_000 }, async () => {
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

describeOnEachStore('a refusal by a limit', (fresh) => {
  const server = useServer(fresh, {
    RATE_LIMIT: 'authentications=1/60,exchanges=1/60,requests=2/60',
  });

  test.each(wires)('over %s tells the operator which limit it was', async (wire) => {
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
      const [found] = await explainRequest(server.service.store, headers.get('x-request-id') ?? '');
      reasons.push(found?.reason);
    }
    expect(reasons).toEqual([
      'too_many_failed_authentications',
      'too_many_failed_exchanges',
      'too_many_requests',
    ]);
  });
});
