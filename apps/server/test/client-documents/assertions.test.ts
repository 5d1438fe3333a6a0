import { expect, test } from 'vitest';
import { type Json, send } from '../http/call.ts';
import { describeOnAnyStore, describeOnEachStore } from '../http/databases.ts';
import { FORM_TYPE } from '../http/forms.ts';
import { refusalsOf } from '../http/refusals-of.ts';
import { type ServerWithDatabase, useServer } from '../http/running-server.ts';
import { authorize, linkingApplication, PUBLIC_URL, VERIFIER } from '../linking/link-flow.ts';
import { approved, begin, CALLBACK, SETTINGS } from './document-flow.ts';
import { useWorld } from './document-server.ts';
import { signed, signingClient, unsigned } from './signing-client.ts';

// What nobody has verified yet, and how much of it is looked at.

const world = useWorld();

/** Each test calls from addresses of its own. */
let addresses = 0;
const newAddress = () => `203.0.113.${++addresses}`;

async function redeemFrom(
  server: ServerWithDatabase,
  address: string,
  code: string,
  client: Record<string, string>,
) {
  const form = { grant_type: 'authorization_code', redirect_uri: CALLBACK };
  const { status, json, headers } = await send(server, {
    method: 'POST',
    path: '/oauth/token',
    headers: { ...FORM_TYPE, 'x-forwarded-for': address },
    body: `${new URLSearchParams({ ...form, code, code_verifier: VERIFIER, ...client })}`,
  });
  return { status, error_code: json.error_code as string | undefined, headers };
}

/** The same call so many times: how often each status came. */
async function statusesOf(count: number, call: () => Promise<{ status: number }>) {
  const statuses: Record<number, number> = {};
  for (let time = 0; time < count; time++) {
    const { status } = await call();
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return statuses;
}

/** A client with keys, and a code for it. */
async function linkedClient(server: ServerWithDatabase, options = {}) {
  const client = await signingClient(world, server, options);
  const { account_id } = await linkingApplication(server);
  const { code } = await approved(server, await begin(server, client.published), account_id);
  const redeem = (address: string, assertion: string) =>
    redeemFrom(server, address, code, signed(assertion));
  return { ...client, code, redeem, client_id: client.published.address };
}

const failuresIn = (server: ServerWithDatabase) =>
  server.lines
    .map((line): Json => JSON.parse(line))
    .filter(({ level, msg }) => level >= 40 && msg !== 'a rate limit was reached');

describeOnAnyStore('an assertion that is ill-formed', (fresh) => {
  const server = useServer(fresh, {
    ...SETTINGS,
    ...{ TRUST_PROXY: 'true', RATE_LIMIT: 'authentications=3/60' },
  });

  test.each<[what: string, change: object | null, header?: object]>([
    ['a sub of no text', { sub: 5 }],
    ['an iss of no text', { iss: [] }],
    ['an aud of no text', { aud: { 0: 'x' } }],
    ['an exp of no number', { exp: 'tomorrow' }],
    ['claims that are no object', null],
    ['an alg of no text', {}, { alg: ['ES256'] }],
    ['a kid of no text', {}, { alg: 'ES256', kid: { toString: 'x' } }],
  ])('is a failure of its address, and the operator is told why: %s', async (_, change, header) => {
    const { claims, client_id, code } = await linkedClient(server);
    const assertion = signed(unsigned(change && { ...claims(), ...change }, header));
    for (const client of [assertion, { client_id, ...assertion }]) {
      const address = newAddress();
      const redeem = () => redeemFrom(server, address, code, client);
      const { status, error_code, headers } = await redeem();
      expect([status, error_code]).toEqual([400, 'credentials_invalid']);
      await server.service.audit.flush();
      expect(await refusalsOf(server.service, headers.get('x-request-id') ?? '')).toMatchObject([
        { reason: 'assertion_ill_formed' },
      ]);
      expect(await statusesOf(3, redeem)).toEqual({ 400: 2, 429: 1 });
    }
    expect(failuresIn(server)).toEqual([]);
  });
});

describeOnEachStore('an address with U+0000', (fresh) => {
  const server = useServer(fresh, SETTINGS);
  const address = 'https://a.example/\0';

  test('is that of nobody, like each other text', async () => {
    const page = await authorize(server, { client_id: address });
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('client_unknown')]);
    const client = signed(unsigned({ iss: address, sub: address, aud: PUBLIC_URL, exp: 5 }));
    const answer = await redeemFrom(server, '', 'a code', client);
    expect([answer.status, answer.error_code]).toEqual([400, 'credentials_invalid']);
    expect(failuresIn(server)).toEqual([]);
  });
});

describeOnAnyStore('keys of strangers', (fresh) => {
  const server = useServer(fresh, SETTINGS);

  test.each([true, false])(
    'that are ill-formed are passed over (keys in the document: %s)',
    async (inline) => {
      const among = (good: object) => [
        ...[{ ...good, key_ops: 5 }, { ...good, kid: 5 }, { kty: 'RSA', n: 5 }, null, 'x'],
        ...(inline ? [] : [{ ...good, d: 'x' }]),
        good,
      ];
      const { redeem, sign } = await linkedClient(server, { inline, among });
      expect((await redeem('', await sign())).status).toBe(200);
      expect(failuresIn(server)).toEqual([]);
    },
  );
});

describeOnAnyStore('failed assertions', (fresh) => {
  const server = useServer(fresh, {
    ...SETTINGS,
    ...{ TRUST_PROXY: 'true', RATE_LIMIT: 'authentications=62/60' },
  });

  test('of a client and an address are 60 in 60 s, and then no key is asked for', async () => {
    const { keys, sign, redeem } = await linkedClient(server);
    const address = newAddress();
    const wrong = await sign('first', undefined, { aud: 'https://a.example' });
    const right = await sign();
    expect(await statusesOf(60, () => redeem(address, wrong))).toEqual({ 400: 60 });
    for (const assertion of [wrong, right, right]) {
      const { status, error_code, headers } = await redeem(address, assertion);
      expect([status, error_code]).toEqual([429, 'rate_limited']);
      expect([headers.get('ratelimit-limit'), headers.get('retry-after')]).toEqual(['60', '60']);
    }
    expect(keys.requests).toBe(0);

    // What was refused did not count again: the address has two failures left.
    const other = await linkedClient(server);
    const others = await other.sign('first', undefined, { aud: 'https://a.example' });
    expect(await statusesOf(3, () => other.redeem(address, others))).toEqual({ 400: 2, 429: 1 });

    // Nobody can keep a client out for everybody.
    expect((await redeem(newAddress(), right)).status).toBe(200);
    expect(keys.requests).toBe(1);
  });

  test('are those too whose keys are nowhere to be had', async () => {
    const there = await linkedClient(server);
    const away = await linkedClient(server, { jwks_uri: 'https://localhost:1/keys.json' });
    const address = newAddress();
    const right = await away.sign();
    expect(await statusesOf(61, () => away.redeem(address, right))).toEqual({ 503: 60, 429: 1 });
    const wrong = await there.sign('first', undefined, { aud: 'https://a.example' });
    expect(await statusesOf(3, () => there.redeem(address, wrong))).toEqual({ 400: 2, 429: 1 });
  });

  test('are let in again when the window has ended', async () => {
    const { sign, redeem } = await linkedClient(server);
    const address = newAddress();
    const wrong = await sign('first', undefined, { aud: 'https://a.example' });
    expect(await statusesOf(61, () => redeem(address, wrong))).toEqual({ 400: 60, 429: 1 });
    server.advance(60_000);
    expect((await redeem(address, await sign())).status).toBe(200);
  });

  test('are refused with right ones where the address is over its limit', async () => {
    const { keys, sign, redeem } = await linkedClient(server);
    const address = newAddress();
    const fail = () =>
      send(server, {
        method: 'GET',
        path: '/v1/grant',
        headers: { 'x-forwarded-for': address },
        authorization: 'Bearer x',
      });
    expect(await statusesOf(63, fail)).toEqual({ 401: 62, 429: 1 });
    expect((await redeem(address, await sign())).status).toBe(429);
    expect(keys.requests).toBe(0);
    expect((await redeem(newAddress(), await sign())).status).toBe(200);
  });
});

describeOnAnyStore('failed assertions with RATE_LIMIT off', (fresh) => {
  const server = useServer(fresh, { ...SETTINGS, RATE_LIMIT: 'off' });

  test('have no limit', async () => {
    const { sign, redeem } = await linkedClient(server);
    const wrong = await sign('first', undefined, { aud: 'https://a.example' });
    expect(await statusesOf(61, () => redeem('', wrong))).toEqual({ 400: 61 });
    expect((await redeem('', await sign())).status).toBe(200);
  });
});
