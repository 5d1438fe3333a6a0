import { createHmac, generateKeyPairSync } from 'node:crypto';
import { DomainError } from '@latchkey/domain/domain-error';
import { exportJWK, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Expected, readAssertion, verifyAssertion } from './assertion.ts';
import { publicKeys } from './keys.ts';

const ADDRESS = 'https://app.example/client.json';
const ISSUER = 'https://link.example';
const TOKEN = `${ISSUER}/oauth/token`;
const now = 1_800_000_000_000;
const seconds = now / 1000;

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const otherEc = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');
const jwkOf = ({ publicKey }: typeof ec, members: Partial<JWK> = {}): Promise<JWK> =>
  exportJWK(publicKey).then((jwk) => ({ ...jwk, ...members }));

const expected: Expected = {
  address: ADDRESS,
  audiences: [ISSUER, TOKEN, `${ISSUER}/oauth/revoke`],
  signing_alg: null,
  voucher: 'operator',
  now,
};
/** What becomes of an assertion, where these are the keys of the client. */
async function verify(jwt: string, keys: unknown[], changes: Partial<Expected> = {}) {
  try {
    const source = { find: async () => publicKeys(keys), refresh: async () => null };
    return await verifyAssertion(readAssertion(jwt), source, { ...expected, ...changes });
  } catch (error) {
    if (error instanceof DomainError) return error.reason;
    throw error;
  }
}

const ILL_FORMED = 'assertion_ill_formed';
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
  expect(await verify(assertion, keys)).toBe('valid');
});

test.each([['ES384'], ['RS384'], ['PS512']])('%s is never taken', async (alg) => {
  const pair = alg === 'ES384' ? generateKeyPairSync('ec', { namedCurve: 'P-384' }) : rsa;
  const assertion = await sign(pair, { header: { alg } });
  expect(await verify(assertion, [await jwkOf(pair)])).toBe('invalid');
});

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

test('nobody signs with no algorithm, or with the public key as a secret', async () => {
  const keys = [await jwkOf(rsa)];
  for (const alg of ['none', 'None', 'NONE']) {
    const unsigned = `${base64url({ alg })}.${base64url(claims)}.`;
    expect(await verify(unsigned, keys)).toBe('invalid');
  }
  const input = `${base64url({ alg: 'HS256' })}.${base64url(claims)}`;
  for (const secret of [
    rsa.publicKey.export({ type: 'spki', format: 'pem' }),
    rsa.publicKey.export({ type: 'spki', format: 'der' }),
    JSON.stringify(keys[0]),
  ]) {
    const signature = createHmac('sha256', secret).update(input).digest('base64url');
    expect(await verify(`${input}.${signature}`, keys)).toBe('invalid');
  }
});

test.each<[what: string, payload: Record<string, unknown>, verdict: string]>([
  ['the token endpoint as aud', { aud: TOKEN }, 'valid'],
  ['the endpoint that was called', { aud: `${ISSUER}/oauth/revoke` }, 'valid'],
  ['the issuer in a list', { aud: ['https://a.example', ISSUER] }, 'valid'],
  ['another aud', { aud: 'https://a.example' }, 'invalid'],
  ['an aud that begins like ours', { aud: `${TOKEN}/` }, 'invalid'],
  ['no aud', { aud: undefined }, ILL_FORMED],
  ['another iss', { iss: 'https://a.example/client.json' }, 'invalid'],
  ['no iss', { iss: undefined }, ILL_FORMED],
  ['another sub', { sub: 'https://a.example/client.json' }, 'invalid'],
  ['no sub', { sub: undefined }, ILL_FORMED],
  ['no exp', { exp: undefined }, ILL_FORMED],
  ['an exp of 59 s ago', { exp: seconds - 59 }, 'valid'],
  ['an exp of 60 s ago', { exp: seconds - 60 }, 'invalid'],
  ['an exp in 11 minutes', { exp: seconds + 660 }, 'valid'],
  ['an exp a second later', { exp: seconds + 661 }, 'invalid'],
  ['an exp of no number', { exp: `${seconds + 60}` }, ILL_FORMED],
  ['an iat in a minute', { iat: seconds + 60 }, 'valid'],
  ['an iat a second later', { iat: seconds + 61 }, 'invalid'],
  ['a sub of no text', { sub: 5 }, ILL_FORMED],
  ['an iss of no text', { iss: { toString: 'x' } }, ILL_FORMED],
  ['an aud of no text', { aud: 5 }, ILL_FORMED],
  ['an empty list of aud', { aud: [] }, ILL_FORMED],
  ['a list of 10 aud', { aud: [...Array(9).fill('https://a.example'), ISSUER] }, 'valid'],
  ['a list of 11 aud', { aud: Array(11).fill(ISSUER) }, ILL_FORMED],
  ['a list of aud that are no texts', { aud: [ISSUER, 5] }, ILL_FORMED],
  ['an iat of no number', { iat: 'now' }, ILL_FORMED],
  ['an nbf of no number', { nbf: null }, ILL_FORMED],
  ['an nbf in a minute', { nbf: seconds + 60 }, 'valid'],
  ['an nbf a second later', { nbf: seconds + 61 }, 'invalid'],
])('%s: %s', async (_, payload, verdict) => {
  const assertion = await sign(ec, { payload });
  expect(await verify(assertion, [await jwkOf(ec)])).toBe(verdict);
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
  expect(await verify(assertion, [await jwkOf(ec, members)])).toBe(verdict);
});

test('another client’s key, an extension, a length', async () => {
  const assertion = await sign(ec);
  expect(await verify(assertion, [await jwkOf(otherEc)])).toBe('invalid');
  expect(await verify(assertion, [])).toBe('key_unknown');

  const keys = [await jwkOf(ec)];
  const long = await sign(ec, { payload: { x: 'x'.repeat(6_200) } });
  expect(long.length).toBeGreaterThan(8_192);
  expect(await verify(long, keys)).toBe(ILL_FORMED);
  const critical = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', crit: ['b64'], b64: true })
    .sign(ec.privateKey);
  expect(await verify(critical, keys)).toBe('invalid');
});

const encoded = (text: string) => Buffer.from(text).toString('base64url');
const good = { header: base64url({ alg: 'ES256' }), claims: base64url(claims) };

test.each([
  ['', 'a.b', '..', `${good.header}.${good.claims}`, `${good.header}.${good.claims}.x.x.x`],
  ['null', '[]', '5', '"x"', '{}', '{', '{"alg":5}', '{"alg":null}', '{"alg":"ES256","kid":5}'].map(
    (header) => `${encoded(header)}.${good.claims}.x`,
  ),
  // A number that is too large for a double is infinite.
  ['null', '[]', '5', JSON.stringify(claims).replace(/"exp":\d+/, '"exp":1e999')].map(
    (text) => `${good.header}.${encoded(text)}.x`,
  ),
])('is ill-formed: %s', async (...texts) => {
  for (const text of texts) expect(await verify(text, [await jwkOf(ec)]), text).toBe(ILL_FORMED);
});

describe('the keys of a client', () => {
  /** Keys that are asked for count: nothing that can be refused without them asks. */
  test('are not asked for where the claims are wrong', async () => {
    const find = vi.fn(async () => publicKeys([await jwkOf(ec)]));
    const source = { find, refresh: find };
    for (const payload of [{ aud: 'https://a.example' }, { exp: seconds - 60 }, { iss: ISSUER }]) {
      const assertion = readAssertion(await sign(ec, { payload }));
      expect(await verifyAssertion(assertion, source, expected)).toBe('invalid');
    }
    expect(find).not.toHaveBeenCalled();
    expect(await verifyAssertion(readAssertion(await sign(ec)), source, expected)).toBe('valid');
  });

  // The owner of a key chooses its numbers, and so what it costs to verify.
  const number = (bits: number) => {
    const bytes = Buffer.alloc(Math.ceil(bits / 8), 0xff);
    bytes[0] = 0xff >> ((8 - (bits % 8)) % 8);
    return bytes.toString('base64url');
  };
  const rsaKey = (n: string, e: string) => ({ kty: 'RSA', n, e });

  test.each<[what: string, key: unknown, fits: boolean]>([
    ['RSA of 2,047 bits', rsaKey(number(2_047), 'AQAB'), false],
    ['RSA of 2,048 bits', rsaKey(number(2_048), 'AQAB'), true],
    ['RSA of 4,096 bits, exponent 3', rsaKey(number(4_096), 'Aw'), true],
    ['RSA of 4,097 bits', rsaKey(number(4_097), 'AQAB'), false],
    ['RSA of 16,384 bits', rsaKey(number(16_384), 'AQAB'), false],
    ['an exponent of 1', rsaKey(number(2_048), 'AQ'), false],
    ['an exponent of 17', rsaKey(number(2_048), 'EQ'), false],
    ['an exponent of 3,064 bits', rsaKey(number(3_072), number(3_064)), false],
    ['no exponent', { kty: 'RSA', n: number(2_048) }, false],
    ['no modulus', { kty: 'RSA', e: 'AQAB' }, false],
    ['a modulus that is no number', rsaKey(`${number(2_048)}=`, 'AQAB'), false],
    ...['kty', 'kid', 'alg', 'use', 'crv', 'x', 'y', 'n', 'e', 'key_ops'].map(
      (name): [string, unknown, boolean] => [
        `${name}, a number`,
        { ...rsaKey(number(2_048), 'AQAB'), [name]: 5 },
        false,
      ],
    ),
    ['key_ops, a text', { ...rsaKey(number(2_048), 'AQAB'), key_ops: 'verify' }, false],
    ['key_ops with a number', { ...rsaKey(number(2_048), 'AQAB'), key_ops: ['verify', 5] }, false],
    ['a private key', { ...rsaKey(number(2_048), 'AQAB'), d: 'x' }, false],
    ['a symmetric key', { kty: 'oct', k: 'x' }, false],
    ['no type', { kid: 'x', x: 'x', y: 'y' }, false],
    ['a curve of no algorithm', { kty: 'EC', crv: 'P-384', x: 'x', y: 'y' }, false],
    ['no curve', { kty: 'OKP', x: 'x' }, false],
    ['null', null, false],
    ['a text', 'x', false],
    ['a list', [], false],
  ])('are passed over or taken: %s', (_, key, fits) => {
    const other = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' };
    expect(publicKeys([key, other])).toEqual(fits ? [key, other] : [other]);
  });

  test('cost no error each, if they are passed over', () => {
    const decode = vi.spyOn(globalThis, 'atob');
    onTestFinished(() => decode.mockRestore());
    const taken = publicKeys(['A', 'A=', '+', '\n'].map((n) => ({ kty: 'RSA', e: 'AQAB', n })));
    expect(taken).toEqual([]);
    expect(decode).not.toHaveBeenCalled();
  });

  test.each([
    ['with a kid', 'a', 8],
    ['without', undefined, 4],
  ])('are tried up to a number, in their order: %s', async (_, kid, most) => {
    const assertion = await sign(ec, { header: kid === undefined ? {} : { kid } });
    const wrong = await jwkOf(otherEc, { kid: 'a' });
    const right = await jwkOf(ec, { kid: 'a' });
    const unfit = [await jwkOf(rsa, { kid: 'a' }), { ...wrong, key_ops: 5 }, null];
    const after = (count: number) => [...unfit, ...Array(count).fill(wrong), right];
    expect(await verify(assertion, after(most - 1))).toBe('valid');
    expect(await verify(assertion, after(most))).toBe('invalid');
  });
});

test('a document that names its algorithm has no other', async () => {
  const keys = [await jwkOf(ed), await jwkOf(ec)];
  const only = { signing_alg: 'Ed25519' } as const;
  const withEd = await sign(ed, { header: { alg: 'EdDSA' } });
  expect(await verify(withEd, keys, only)).toBe('valid');
  expect(await verify(await sign(ec), keys, only)).toBe('invalid');
});
