import { describe, expect, test } from 'vitest';
import { parseClientSchemes } from '../client-documents/redirect-uris.ts';
import {
  type AskedRegistration,
  createRegisteredClients,
  type RegisteredClientsOptions,
} from './registered-clients.ts';
import { parseRegistration } from './setting.ts';

const PUBLIC_URL = 'https://link.example/base';
const LOOPBACK = 'http://localhost/callback';
const EXAMPLE =
  'eyJjbGllbnRfbmFtZSI6IkN1cnNvciIsInJlZGlyZWN0X3VyaXMiOlsiaHR0cDovL2xvY2FsaG9zdC9jYWxsYmFjayJdfQ';

interface Settings extends Partial<Omit<RegisteredClientsOptions, 'setting' | 'schemes'>> {
  registration?: string;
  schemes?: string;
}

const clientsOf = ({ registration = 'on', schemes = 'default', ...options }: Settings = {}) =>
  createRegisteredClients({
    publicUrl: PUBLIC_URL,
    pageName: 'Example Shop',
    setting: parseRegistration(registration) ?? null,
    schemes: parseClientSchemes(schemes) ?? new Map(),
    ...options,
  });

const addressOf = (json: string | Uint8Array) =>
  `${PUBLIC_URL}/oauth/clients/${Buffer.from(json as string).toString('base64url')}`;
const said = (redirect_uris: unknown, client_name?: unknown) =>
  addressOf(JSON.stringify({ client_name, redirect_uris }));

const registered = (asked: AskedRegistration, settings?: Settings) =>
  clientsOf(settings).register(asked);

test('has the address of the contract, to the letter', () => {
  const asked = { client_name: 'Cursor', redirect_uris: [LOOPBACK] };
  expect(registered(asked)).toEqual({
    client_id: `${PUBLIC_URL}/oauth/clients/${EXAMPLE}`,
    ...asked,
  });
  const publicUrl = 'http://127.0.0.1:3000';
  const local = `${publicUrl}/oauth/clients/${EXAMPLE}`;
  expect(registered(asked, { publicUrl }).client_id).toBe(local);
});

test('is one client, in whatever order, with whatever ports, and in every form of its name', () => {
  const redirect_uris = ['http://127.0.0.1:8080/a', 'cursor://a/b', 'http://[::1]:/?x', LOOPBACK];
  const { client_id, ...rest } = registered({ client_name: 'Caf\u00e9', redirect_uris });
  expect(rest).toEqual({ client_name: 'Café', redirect_uris });
  const others = [...redirect_uris.reverse(), 'http://127.0.0.1:1/a', 'cursor://a/b'];
  const other = registered({ client_name: 'Cafe\u0301', redirect_uris: others });
  expect(other.client_id).toBe(client_id);
  expect(other.redirect_uris).toEqual(others);
  expect(clientsOf().find(client_id)).toEqual({
    ...{ client_id, client_name: 'Café' },
    redirect_uris: ['cursor://a/b', 'http://127.0.0.1/a', 'http://[::1]/?x', LOOPBACK],
  });
});

describe('a redirect URI', () => {
  const CURSOR = [
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'https://www.cursor.com/agents/mcp/oauth/callback',
    'http://localhost:8787/callback',
  ] as const;

  test.each([
    ['on', 'default', [CURSOR[0], CURSOR[2]]],
    ['on', 'none', [CURSOR[2]]],
    ['www.cursor.com', 'default', [...CURSOR]],
    [CURSOR[1], 'none', [CURSOR[1], CURSOR[2]]],
  ])('of Cursor with %s and %s', (registration, schemes, taken) => {
    const { redirect_uris } = registered({ redirect_uris: [...CURSOR] }, { registration, schemes });
    expect(redirect_uris).toEqual(taken);
  });

  test.each([
    ...['https://app.example/', 'http://app.example/', 'http://127.1/', 'http://localhost.:1/'],
    ...[
      'javascript://a/b',
      'file:///etc/passwd',
      'vscode://file/etc',
      'VSCODE://FILE/a',
      'cursor:a',
    ],
    ...['cursor://a/b?c=d', 'cursor://a/b#c', 'com.example.app:/cb', 'other://a/b'],
    ...[
      'http://localhost:99999/',
      'http://localhost/*',
      'http://localhost/?code=1',
      'http://u@localhost/',
    ],
    ...[
      'http://localhost/ä',
      'http://localhost/%',
      '',
      ' ',
      `http://localhost/${'a'.repeat(2_000)}`,
    ],
    ...['http://localhost/\n', '__proto__'],
  ])('%j is left out, and refused if it is the only one', (uri) => {
    expect(registered({ redirect_uris: [uri, LOOPBACK] }).redirect_uris).toEqual([LOOPBACK]);
    expect(() => registered({ redirect_uris: [uri] })).toThrow(
      expect.objectContaining({
        code: 'registration_redirect_refused',
        members: {},
        message: expect.stringContaining(
          'Taken here: http: on 127.0.0.1, [::1] or localhost; the schemes cursor:, vscode:,',
        ),
      }),
    );
  });

  test('is named where it is taken', () => {
    const register = () => {
      registered(
        { redirect_uris: ['https://a.example/'] },
        { registration: 'b.example,https://c.example/d', schemes: 'none' },
      );
    };
    expect(register).toThrow('localhost; https: at b.example, https://c.example/d.');
  });
});

test('a client_id has at most 500 characters', () => {
  const long = (length: number) => ({ redirect_uris: [`http://localhost/${'a'.repeat(length)}`] });
  const lengths = Array.from({ length: 400 }, (_, length) => length);
  const most = lengths.findLast((length) => {
    try {
      return registered(long(length)).client_id.length <= 500;
    } catch {
      return false;
    }
  });
  const { client_id } = registered(long(most ?? 0));
  expect(client_id.length).toBeGreaterThan(496);
  expect(clientsOf().find(client_id)?.client_id).toBe(client_id);
  expect(() => registered(long((most ?? 0) + 1))).toThrow(
    expect.objectContaining({
      code: 'registration_invalid',
      members: { issues: [{ path: ['redirect_uris'], message: expect.any(String) }] },
    }),
  );
  expect(clientsOf().find(said(long((most ?? 0) + 1).redirect_uris))).toBeNull();
});

describe('a name', () => {
  test.each<[unknown]>([
    [undefined],
    [null],
    [7],
    [{}],
    [''],
    ['   '],
    ['The "best"'],
    ['Done. Allow'],
    ['example SHOP app'],
    ['a'.repeat(41)],
    ['a\u202eb'],
    ['\ud800'],
    ['e\u0301\u0301\u0301\u0301\u0301\u0301'],
  ])('%j is none', (client_name) => {
    const { client_id, ...rest } = registered({ client_name, redirect_uris: [LOOPBACK] });
    expect(rest).toEqual({ client_name: null, redirect_uris: [LOOPBACK] });
    expect(client_id).toBe(said([LOOPBACK]));
  });

  test.each(['a'.repeat(41), 'Example Shop', 'The “best”', '\ud800'])(
    'that an address has, and that no page says, counts as not there: %j',
    (client_name) => {
      const client_id = said([LOOPBACK], client_name);
      const found = { client_id, client_name: null, redirect_uris: [LOOPBACK] };
      expect(clientsOf().find(client_id)).toEqual(found);
    },
  );

  test('is dropped once it reads as that of the service', () => {
    const { client_id } = registered({ client_name: 'Cursor', redirect_uris: [LOOPBACK] });
    expect(clientsOf({ pageName: 'Curs' }).find(client_id)?.client_name).toBeNull();
  });
});

test('the settings are asked when an address is read', () => {
  const redirect_uris = ['cursor://a/b', 'https://a.example/'];
  const { client_id } = registered({ redirect_uris }, { registration: 'a.example' });
  const find = (settings: Settings) => clientsOf(settings).find(client_id)?.redirect_uris;
  expect(find({ registration: 'a.example' })).toEqual(redirect_uris);
  expect(find({ registration: 'on' })).toEqual(['cursor://a/b']);
  expect(find({ registration: 'https://a.example/', schemes: 'none' })).toEqual([
    'https://a.example/',
  ]);
  expect(find({ registration: 'on', schemes: 'none' })).toBeUndefined();
  expect(find({ registration: 'off' })).toBeUndefined();
});

describe('what is not written as we write it is no client', () => {
  const uris = JSON.stringify([LOOPBACK]);
  const good = said([LOOPBACK], 'Cursor');
  const [last = ''] = good.slice(-1);

  test('such as this one is', () => expect(clientsOf().find(good)).not.toBeNull());

  test.each<[string, string]>([
    ['another order', addressOf(`{"redirect_uris":${uris},"client_name":"Cursor"}`)],
    ['a space', addressOf(`{"redirect_uris": ${uris}}`)],
    ['an escape', addressOf(`{"client_name":"\\u0043","redirect_uris":${uris}}`)],
    ['another member', addressOf(`{"redirect_uris":${uris},"x":1}`)],
    ['a member twice', addressOf(`{"redirect_uris":${uris},"redirect_uris":${uris}}`)],
    ['a prototype', addressOf(`{"__proto__":{"redirect_uris":${uris}}}`)],
    ['a prototype beside', addressOf(`{"redirect_uris":${uris},"__proto__":{}}`)],
    ['a name that is null', said([LOOPBACK], null)],
    ['a name that is no text', said([LOOPBACK], 7)],
    ['a name that is not in NFC', said([LOOPBACK], 'Cafe\u0301')],
    ['a byte order mark', addressOf(`\ufeff{"redirect_uris":${uris}}`)],
    ['a surrogate in bytes', addressOf(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))],
    ['no UTF-8', addressOf(Buffer.from([0xff]))],
    ['no JSON', addressOf('{')],
    ['no object', addressOf(uris)],
    ['nothing', addressOf('')],
    ['deep JSON', addressOf('['.repeat(300))],
    ['no redirect URIs', addressOf('{"client_name":"Cursor"}')],
    ['an empty list', said([])],
    ['a text as a list', said(LOOPBACK)],
    [
      '21 of them',
      said(Array.from({ length: 21 }, (_, i) => `a.b:/${'abcdefghijklmnopqrstu'[i]}`)),
    ],
    ['one that is no redirect URI', said(['http://app.example/', LOOPBACK])],
    ['a port on loopback', said(['http://localhost:8787/callback'])],
    ['an empty port', said(['http://localhost:/callback'])],
    ['another order of them', said([LOOPBACK, 'cursor://a/b'])],
    ['one of them twice', said([LOOPBACK, LOOPBACK])],
    ['padding', `${good}=`],
    ['a loose bit', good.slice(0, -1) + String.fromCharCode(last.charCodeAt(0) + 1)],
    ['a letter behind', `${good}A`],
    ['the other base64', good.replace(/.$/, '+')],
    ['percent-encoding', good.replace('/eyJ', '/%65yJ')],
    ['percent-encoding before', good.replace('/oauth/', '/%6fauth/')],
    ['a query', `${good}?`],
    ['a fragment', `${good}#`],
    ['another host', good.replace('link.example', 'other.example')],
    ['an upper-case host', good.replace('link', 'LINK')],
    ['a port', good.replace('link.example', 'link.example:443')],
    ['another path', good.replace('/base', '')],
  ])('%s', (_what, client_id) => {
    expect(clientsOf().find(client_id)).toBeNull();
  });
});

test.each([
  ['https://link.example/base/oauth/clients/a', true],
  ['https://link.example:443/base/oauth/clients/a', true],
  ['https://link.example/base/%6fauth/clients/%zz', true],
  ['https://link.example/base/o%61uth/clients/%ff', true],
  ['https://link.example/base/x/../oauth/clients/a', true],
  ['https://link.example/base%2Foauth/clients%2fa', true],
  ['https://link.example/base/oauth/clients-of-others/a', false],
  ['https://link.example/oauth/clients/a', false],
  ['https://link.example:8443/base/oauth/clients/a', false],
  ['http://link.example/base/oauth/clients/a', false],
  ['https://other.example/base/oauth/clients/a', false],
  ['no address', false],
])('%s is its own: %j', (address, isOwn) => {
  expect(clientsOf().isOwn(address)).toBe(isOwn);
  expect(clientsOf({ registration: 'off' }).isOwn(address)).toBe(isOwn);
});
