import { readFileSync } from 'node:fs';
import { reasons } from '@latchkey/domain/reasons';
import { describe, expect, test } from 'vitest';
import { readDocument, WRITTEN_FOR } from './document.ts';
import { DocumentFailure } from './faults.ts';

const ADDRESS = 'https://app.example:8443/client.json';
const least = { client_id: ADDRESS, redirect_uris: ['https://app.example/cb'] };

const options = { allowPrivate: false, schemes: 'all' } as const;

const read = (members: object, address = ADDRESS) =>
  readDocument(address, Buffer.from(JSON.stringify(members)), options);

/** What is wrong; null if nothing is. */
function faultOf(body: string | Buffer): string | null {
  try {
    readDocument(ADDRESS, Buffer.from(body), options);
    return null;
  } catch (error) {
    if (error instanceof DocumentFailure) return reasons[error.fault].found;
    throw error;
  }
}

const publicKey = { kty: 'EC', crv: 'P-256', x: 'a', y: 'b' };
const keyed = { method: 'private_key_jwt', jwks_uri: null, keys: [publicKey] };
const withKeys = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [publicKey] } };
const withUri = {
  token_endpoint_auth_method: 'private_key_jwt',
  jwks_uri: 'https://keys.example/jwks',
};

test('the least that a document has', () => {
  expect(read(least)).toEqual({
    uri: ADDRESS,
    name: 'app.example',
    redirect_uris: ['https://app.example/cb'],
    homepage_uri: null,
    policy_uri: null,
    tos_uri: null,
    scope: null,
    method: 'none',
    jwks_uri: null,
    keys: null,
    signing_alg: null,
  });
});

const many = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `https://app.example/${from + index}`);

test.each<[rule: string, members: object, expected: object]>([
  ['a name', { client_name: 'Bücher' }, { name: 'Bücher' }],
  ['a name in another form of Unicode', { client_name: 'u\u0308' }, { name: 'ü' }],
  ['a name that is too long', { client_name: 'a'.repeat(201) }, { name: 'app.example' }],
  ['a name with a direction mark', { client_name: 'a\u202eb' }, { name: 'app.example' }],
  ['a name that is no text', { client_name: 1 }, { name: 'app.example' }],
  [
    'redirect URIs that nobody could register',
    { redirect_uris: ['javascript:alert(1)', 7, null, 'http://evil.example/', 'cursor://a/b'] },
    { redirect_uris: ['cursor://a/b'] },
  ],
  [
    'a redirect URI twice',
    { redirect_uris: ['https://a.example', 'https://a.example'] },
    { redirect_uris: ['https://a.example'] },
  ],
  ['101 redirect URIs', { redirect_uris: many(0, 101) }, { redirect_uris: many(0, 100) }],
  [
    'pages of its own host',
    {
      client_uri: 'https://app.example/',
      policy_uri: 'https://app.example:1/policy',
      tos_uri: 'https://app.example/tos',
    },
    {
      homepage_uri: 'https://app.example/',
      policy_uri: 'https://app.example:1/policy',
      tos_uri: 'https://app.example/tos',
    },
  ],
  [
    'pages of other hosts',
    {
      client_uri: 'https://bank.example/',
      policy_uri: 'https://www.app.example/',
      tos_uri: 'javascript:alert(1)',
    },
    { homepage_uri: null, policy_uri: null, tos_uri: null },
  ],
  ['a scope', { scope: ' a  b a' }, { scope: ' a  b a' }],
  ['an empty scope', { scope: ' ' }, { scope: null }],
  ['a scope that is no text', { scope: ['a'] }, { scope: null }],
  ['members that nobody knows', { logo_uri: 'https://a.example/x.png', x: { y: 1 } }, {}],
  [
    'more grant types and response types',
    {
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code', 'code id_token'],
    },
    {},
  ],
  ['the method none', { token_endpoint_auth_method: 'none' }, { method: 'none' }],
  ['keys at an address', withUri, { ...keyed, jwks_uri: withUri.jwks_uri, keys: null }],
  ['keys in it', withKeys, keyed],
  [
    'keys that nobody can use',
    { ...withKeys, jwks: { keys: ['x', null, { ...publicKey, key_ops: 5 }, { kty: 'RSA' }] } },
    { ...keyed, keys: [] },
  ],
  [
    'keys that the method does not need',
    { jwks_uri: 'x', jwks: { keys: [publicKey] } },
    { method: 'none', keys: null },
  ],
  [
    'an algorithm',
    { ...withKeys, token_endpoint_auth_signing_alg: 'ES256' },
    { ...keyed, signing_alg: 'ES256' },
  ],
  [
    'a method that is taken goes before the others',
    {
      token_endpoint_auth_method: 'none',
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
    },
    { method: 'none' },
  ],
  [
    'the strongest of the methods, without a method',
    {
      ...withKeys,
      token_endpoint_auth_method: undefined,
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    },
    keyed,
  ],
  [
    'one of the methods, with a method that is not taken',
    {
      token_endpoint_auth_method: 'client_secret_basic',
      token_endpoint_auth_methods_supported: ['none', 'tls_client_auth'],
    },
    { method: 'none' },
  ],
])('%s', (_, members, expected) => {
  expect(read({ ...least, ...members })).toEqual({ ...read(least), ...expected });
});

test.each<[rule: string, members: object, fault: RegExp]>([
  ['another client_id', { client_id: `${ADDRESS}x` }, /\bclient_id\b/],
  [
    'a client_id without the port',
    { client_id: 'https://app.example/client.json' },
    /\bclient_id\b/,
  ],
  ['a client_id in other letters', { client_id: ADDRESS.toUpperCase() }, /\bclient_id\b/],
  ['no client_id', { client_id: undefined }, /\bclient_id\b/],
  ['no redirect URIs', { redirect_uris: undefined }, /\bredirect_uris\b/],
  ['an empty list of them', { redirect_uris: [] }, /\bredirect_uris\b/],
  ['redirect URIs as a text', { redirect_uris: 'https://app.example/cb' }, /\bredirect_uris\b/],
  [
    'none that could be registered',
    { redirect_uris: ['javascript:alert(1)'] },
    /\bredirect_uris\b/,
  ],
  [
    'a good one in the 101st place',
    { redirect_uris: [...many(0, 100).map((uri) => `${uri}#`), 'https://app.example/cb'] },
    /\bredirect_uris\b/,
  ],
  ['a secret', { client_secret: 'hush' }, /\bclient_secret\b/],
  ['an empty secret', { client_secret: null }, /\bclient_secret\b/],
  [
    'another method',
    { token_endpoint_auth_method: 'client_secret_basic' },
    /\btoken_endpoint_auth_method\b/,
  ],
  [
    'a method that is no text',
    { token_endpoint_auth_method: null },
    /\btoken_endpoint_auth_method\b/,
  ],
  [
    'other methods',
    { token_endpoint_auth_methods_supported: ['client_secret_post'] },
    /\btoken_endpoint_auth_methods_supported\b/,
  ],
  [
    'methods that are no list',
    { token_endpoint_auth_methods_supported: 'none' },
    /\btoken_endpoint_auth_methods_supported\b/,
  ],
  ['a key method without keys', { token_endpoint_auth_method: 'private_key_jwt' }, /\bjwks_uri\b/],
  ['keys in two places', { ...withKeys, ...withUri }, /\bjwks_uri\b/],
  ['keys at http:', { ...withUri, jwks_uri: 'http://keys.example/jwks' }, /\bjwks_uri\b/],
  ['keys at an IP address', { ...withUri, jwks_uri: 'https://127.0.0.1/jwks' }, /\bjwks_uri\b/],
  ['keys at a query', { ...withUri, jwks_uri: 'https://keys.example/jwks?a' }, /\bjwks_uri\b/],
  ['keys at no text', { ...withUri, jwks_uri: 7 }, /\bjwks_uri\b/],
  ['a set without keys', { ...withKeys, jwks: {} }, /\bjwks\b/],
  ['a set that is no object', { ...withKeys, jwks: [] }, /\bjwks\b/],
  [
    'a symmetric key',
    { ...withKeys, jwks: { keys: [publicKey, { kty: 'oct', k: 'x' }] } },
    /\bjwks\b/,
  ],
  ['a key of a symmetric kind', { ...withKeys, jwks: { keys: [{ kty: 'oct' }] } }, /\bjwks\b/],
  ['a private key', { ...withKeys, jwks: { keys: [{ ...publicKey, d: 'x' }] } }, /\bjwks\b/],
  ['a private key of the method none', { jwks: { keys: [{ ...publicKey, d: 'x' }] } }, /\bjwks\b/],
  [
    'a prime of a private key',
    { ...withKeys, jwks: { keys: [{ kty: 'RSA', p: 'x' }] } },
    /\bjwks\b/,
  ],
  [
    'another algorithm',
    { ...withKeys, token_endpoint_auth_signing_alg: 'HS256' },
    /\btoken_endpoint_auth_signing_alg\b/,
  ],
  ['grant types without the code', { grant_types: ['refresh_token'] }, /\bgrant_types\b/],
  ['grant types that are no list', { grant_types: 'authorization_code' }, /\bgrant_types\b/],
  ['response types without the code', { response_types: ['token'] }, /\bresponse_types\b/],
])('%s: refused, and the member is named', (_, members, fault) => {
  expect(faultOf(JSON.stringify({ ...least, ...members }))).toMatch(fault);
});

test.each<[what: string, body: string | Buffer]>([
  ['no JSON', '<html>'],
  ['nothing', ''],
  ['a list', '[]'],
  ['null', 'null'],
  ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
])('%s: refused', (_, body) => {
  expect(faultOf(body)).toBe(reasons.document_no_json.found);
});

test('no value of a document is told', () => {
  const secret = 'hunter2';
  for (const name of ['client_id', 'redirect_uris', 'grant_types', 'jwks', 'client_secret']) {
    expect(faultOf(JSON.stringify({ ...least, [name]: secret }))).not.toContain(secret);
  }
});

// The members that matter here, as they were published in 2026. ChatGPT has several addresses.
describe('documents of known applications', () => {
  test('ChatGPT', () => {
    const address = 'https://chatgpt.com/oauth/client.json';
    const published = {
      client_id: address,
      client_name: 'ChatGPT',
      client_uri: 'https://chatgpt.com/',
      redirect_uris: ['https://chatgpt.com/connector/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
      token_endpoint_auth_signing_alg: 'RS256',
    };
    const both = ['none', 'private_key_jwt'];
    const { token_endpoint_auth_method: _, ...withoutMethod } = published;
    for (const members of [
      published,
      { ...published, token_endpoint_auth_methods_supported: both },
      { ...withoutMethod, token_endpoint_auth_methods_supported: both },
    ]) {
      expect(read(members, address)).toMatchObject({
        name: 'ChatGPT',
        homepage_uri: 'https://chatgpt.com/',
        method: 'private_key_jwt',
        jwks_uri: published.jwks_uri,
      });
    }
  });

  test('Claude Code', () => {
    const address = 'https://claude.ai/oauth/claude-code-client-metadata';
    const document = read(
      {
        client_id: address,
        client_name: 'Claude Code',
        client_uri: 'https://claude.ai',
        redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
      address,
    );
    expect(document).toMatchObject({ method: 'none', homepage_uri: 'https://claude.ai' });
    expect(document.redirect_uris).toHaveLength(2);
  });

  test('VS Code', () => {
    const address = 'https://vscode.dev/oauth/client-metadata.json';
    const document = read(
      {
        client_id: address,
        client_name: 'Visual Studio Code',
        client_uri: 'https://vscode.dev/product',
        redirect_uris: [
          'http://127.0.0.1:33418',
          'http://127.0.0.1:33418/',
          'https://vscode.dev/redirect',
        ],
        grant_types: [
          'authorization_code',
          'refresh_token',
          'urn:ietf:params:oauth:grant-type:device_code',
        ],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        application_type: 'native',
      },
      address,
    );
    expect(document.redirect_uris).toHaveLength(3);
    expect(document.name).toBe('Visual Studio Code');
  });
});

test.each([
  ['protocol/clients.md', Object.values(WRITTEN_FOR)],
  ['versions.md', [WRITTEN_FOR.draft]],
  ['guides/ai-clients.md', [WRITTEN_FOR.mcp]],
])('docs/%s has the same versions', (page, versions) => {
  const text = readFileSync(new URL(`../../../../docs/${page}`, import.meta.url), 'utf8');
  for (const version of versions) expect(text).toContain(version);
});
