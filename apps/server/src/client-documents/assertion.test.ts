import { createHmac, generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { exportJWK, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import { type Expected, verifyAssertion } from './assertion.ts';

const ADDRESS = 'https://app.example/client.json';
const ISSUER = 'https://link.example';
const TOKEN = `${ISSUER}/oauth/token`;
const now = 1_800_000_000_000;
const seconds = now / 1000;

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const otherEc = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');
const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
const jwkOf = ({ publicKey }: typeof ec, members: Partial<JWK> = {}): Promise<JWK> =>
  exportJWK(publicKey).then((jwk) => ({ ...jwk, ...members }));

const expected: Expected = {
  address: ADDRESS,
  audiences: [ISSUER, TOKEN, `${ISSUER}/oauth/revoke`],
  signing_alg: null,
  now,
};
const claims = { iss: ADDRESS, sub: ADDRESS, aud: ISSUER, exp: seconds + 60 };

const sign = (
  pair: typeof ec,
  {
    header = {},
    payload = {},
  }: { header?: Partial<JWTHeaderParameters>; payload?: Record<string, unknown> } = {},
) =>
  new SignJWT({ ...claims, ...payload })
    .setProtectedHeader({ alg: 'ES256', ...header })
    .sign(pair.privateKey);

test.each([
  ['RS256', rsa],
  ['PS256', rsa],
  ['ES256', ec],
  ['EdDSA', ed],
  ['Ed25519', ed],
])('%s is taken', async (alg, pair) => {
  const assertion = await sign(pair, { header: { alg } });
  const keys = [await jwkOf(otherEc), await jwkOf(pair)];
  expect(await verifyAssertion(assertion, keys, expected)).toBe('valid');
});

test.each([['ES384'], ['RS384'], ['PS512']])('%s is never taken', async (alg) => {
  const pair = alg === 'ES384' ? generateKeyPairSync('ec', { namedCurve: 'P-384' }) : rsa;
  const assertion = await sign(pair, { header: { alg } });
  expect(await verifyAssertion(assertion, [await jwkOf(pair)], expected)).toBe('invalid');
});

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

test('nobody signs with no algorithm, or with the public key as a secret', async () => {
  const keys = [await jwkOf(rsa)];
  for (const alg of ['none', 'None', 'NONE']) {
    const unsigned = `${base64url({ alg })}.${base64url(claims)}.`;
    expect(await verifyAssertion(unsigned, keys, expected)).toBe('invalid');
  }
  const input = `${base64url({ alg: 'HS256' })}.${base64url(claims)}`;
  for (const secret of [
    rsa.publicKey.export({ type: 'spki', format: 'pem' }),
    rsa.publicKey.export({ type: 'spki', format: 'der' }),
    JSON.stringify(keys[0]),
  ]) {
    const signature = createHmac('sha256', secret).update(input).digest('base64url');
    expect(await verifyAssertion(`${input}.${signature}`, keys, expected)).toBe('invalid');
  }
});

test.each<[what: string, payload: Record<string, unknown>, verdict: string]>([
  ['the token endpoint as aud', { aud: TOKEN }, 'valid'],
  ['the endpoint that was called', { aud: `${ISSUER}/oauth/revoke` }, 'valid'],
  ['the issuer in a list', { aud: ['https://a.example', ISSUER] }, 'valid'],
  ['another aud', { aud: 'https://a.example' }, 'invalid'],
  ['an aud that begins like ours', { aud: `${TOKEN}/` }, 'invalid'],
  ['no aud', { aud: undefined }, 'invalid'],
  ['another iss', { iss: 'https://a.example/client.json' }, 'invalid'],
  ['no iss', { iss: undefined }, 'invalid'],
  ['another sub', { sub: 'https://a.example/client.json' }, 'invalid'],
  ['no sub', { sub: undefined }, 'invalid'],
  ['no exp', { exp: undefined }, 'invalid'],
  ['an exp of 59 s ago', { exp: seconds - 59 }, 'valid'],
  ['an exp of 60 s ago', { exp: seconds - 60 }, 'invalid'],
  ['an exp in 11 minutes', { exp: seconds + 660 }, 'valid'],
  ['an exp a second later', { exp: seconds + 661 }, 'invalid'],
  ['an exp of no number', { exp: `${seconds + 60}` }, 'invalid'],
  ['an iat in a minute', { iat: seconds + 60 }, 'valid'],
  ['an iat a second later', { iat: seconds + 61 }, 'invalid'],
  ['an iat of no number', { iat: 'now' }, 'invalid'],
  ['an nbf in a minute', { nbf: seconds + 60 }, 'valid'],
  ['an nbf a second later', { nbf: seconds + 61 }, 'invalid'],
])('%s: %s', async (_, payload, verdict) => {
  const assertion = await sign(ec, { payload });
  expect(await verifyAssertion(assertion, [await jwkOf(ec)], expected)).toBe(verdict);
});

test.each<[what: string, header: Partial<JWTHeaderParameters>, key: Partial<JWK>, verdict: string]>(
  [
    ['its kid', { kid: 'a' }, { kid: 'a' }, 'valid'],
    ['another kid', { kid: 'a' }, { kid: 'b' }, 'key_unknown'],
    ['a kid, of a key without one', { kid: 'a' }, {}, 'key_unknown'],
    ['no kid, of a key with one', {}, { kid: 'a' }, 'valid'],
    ['a key for signatures', {}, { use: 'sig' }, 'valid'],
    ['a key for encryption', {}, { use: 'enc' }, 'key_unknown'],
    ['a key that verifies', {}, { key_ops: ['verify'] }, 'valid'],
    ['a key that does something else', {}, { key_ops: ['deriveKey'] }, 'key_unknown'],
    ['a key for another algorithm', {}, { alg: 'ES384' }, 'key_unknown'],
  ],
)('%s: %s', async (_, header, members, verdict) => {
  const assertion = await sign(ec, { header });
  expect(await verifyAssertion(assertion, [await jwkOf(ec, members)], expected)).toBe(verdict);
});

test('another client’s key, a weak key, an extension, a length', async () => {
  const assertion = await sign(ec);
  expect(await verifyAssertion(assertion, [await jwkOf(otherEc)], expected)).toBe('invalid');
  expect(await verifyAssertion(assertion, [], expected)).toBe('key_unknown');

  const input = `${base64url({ alg: 'RS256' })}.${base64url(claims)}`;
  const signature = signBytes('sha256', Buffer.from(input), weak.privateKey).toString('base64url');
  expect(await verifyAssertion(`${input}.${signature}`, [await jwkOf(weak)], expected)).toBe(
    'invalid',
  );

  const keys = [await jwkOf(ec)];
  const long = await sign(ec, { payload: { x: 'x'.repeat(6_200) } });
  expect(long.length).toBeGreaterThan(8_192);
  expect(await verifyAssertion(long, keys, expected)).toBe('invalid');
  expect(await verifyAssertion('a.b', keys, expected)).toBe('invalid');
  const critical = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', crit: ['b64'], b64: true })
    .sign(ec.privateKey);
  expect(await verifyAssertion(critical, keys, expected)).toBe('invalid');
});

test('a document that names its algorithm has no other', async () => {
  const keys = [await jwkOf(ed), await jwkOf(ec)];
  const only = { ...expected, signing_alg: 'Ed25519' as const };
  const withEd = await sign(ed, { header: { alg: 'EdDSA' } });
  expect(await verifyAssertion(withEd, keys, only)).toBe('valid');
  expect(await verifyAssertion(await sign(ec), keys, only)).toBe('invalid');
});
