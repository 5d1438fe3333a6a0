import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { BadSetting } from '@latchkey/domain/bad-setting';
import type { EventsKeys } from '@latchkey/rules/events/endpoint-secret';
import { afterAll, describe, expect, test } from 'vitest';
import list from './settings.json' with { type: 'json' };
import { loadSettings, readSecretsAgain, settingsInForce } from './settings.ts';

test('everything has a default', () => {
  expect(loadSettings({})).toMatchObject({
    port: 3000,
    host: '127.0.0.1',
    databaseUrl: 'file:./data/latchkey.db',
    databaseIsDefault: true,
    adminSecret: null,
    adminSecretPrevious: null,
    adminHost: null,
    adminPort: null,
    publicUrl: null,
    logLevel: 'info',
    trustProxy: false,
    drainSeconds: 0,
    shutdownSeconds: 10,
    audit: 'best-effort',
    auditDays: 30,
    minFreeMb: 64,
    metrics: false,
    signInUrl: null,
    pageName: null,
    pageLogo: null,
    pageHome: null,
    pageColor: '#0b62d6',
    pageTexts: {},
    outboundAllow: null,
    rateLimit: {
      authentications: { limit: 1_000, seconds: 60 },
      exchanges: { limit: 1_000, seconds: 60 },
      requests: { limit: 300_000, seconds: 60 },
    },
  });
});

test('an empty setting counts as not set, except DATABASE_URL', () => {
  const { DATABASE_URL: _, ...others } = list;
  const names = Object.entries(others).flatMap(([name, setting]) =>
    'fileExample' in setting ? [name, `${name}_FILE`] : [name],
  );
  const empty = Object.fromEntries(names.map((name) => [name, '']));
  expect(loadSettings(empty)).toEqual(loadSettings({}));
});

test.each([
  ['PORT', '0', { port: 0 }],
  ['PORT', '65535', { port: 65535 }],
  ['HOST', '::1', { host: '::1' }],
  ['DATABASE_URL', 'file:./data/latchkey.db', { databaseIsDefault: false }],
  ['DATABASE_URL', 'file::memory:', { databaseUrl: 'file::memory:' }],
  ['DATABASE_URL', 'mongodb+srv://u:p@h/d', { databaseUrl: 'mongodb+srv://u:p@h/d' }],
  ['ADMIN_SECRET', '!"#~abcd'.repeat(4), { adminSecret: '!"#~abcd'.repeat(4) }],
  ['ADMIN_PORT', '0', { adminPort: 0 }],
  ['DRAIN_SECONDS', '3600', { drainSeconds: 3600 }],
  ['PUBLIC_URL', 'https://a.example//', { publicUrl: 'https://a.example' }],
  ['PUBLIC_URL', 'HTTPS://a.example', { publicUrl: 'https://a.example' }],
  ['PUBLIC_URL', 'http://a.example:8080/b/', { publicUrl: 'http://a.example:8080/b' }],
  ['LOG_LEVEL', 'trace', { logLevel: 'trace' }],
  ['TRUST_PROXY', 'true', { trustProxy: true }],
  ['SHUTDOWN_SECONDS', '0', { shutdownSeconds: 0 }],
  ['AUDIT', 'required', { audit: 'required' }],
  ['AUDIT_DAYS', '0', { auditDays: 0 }],
  ['MIN_FREE_MB', '1048576', { minFreeMb: 1_048_576 }],
  ['REVOKED_GRANT_DAYS', '30', { revokedGrantDays: 30 }],
  ['METRICS', 'on', { metrics: true }],
  ['METRICS', 'off', { metrics: false }],
  ['RATE_LIMIT', 'off', { rateLimit: null }],
  ['OUTBOUND_ALLOW', 'private', { outboundAllow: { private: true, http: false } }],
  ['OUTBOUND_ALLOW', 'http', { outboundAllow: { private: false, http: true } }],
  ['OUTBOUND_ALLOW', 'private,http', { outboundAllow: { private: true, http: true } }],
  ['OUTBOUND_ALLOW', 'http,private', { outboundAllow: { private: true, http: true } }],
  ['PAGE_NAME', 'Café Zoë 🍰', { pageName: 'Café Zoë 🍰' }],
  ['PAGE_LOGO', 'https://a.example/b.png', { pageLogo: 'https://a.example/b.png' }],
  ['PAGE_LOGO', 'data:image/png;base64,AA==', { pageLogo: 'data:image/png;base64,AA==' }],
  ['PAGE_HOME', 'http://localhost:4000/', { pageHome: 'http://localhost:4000/' }],
  ['PAGE_COLOR', '#AbCdEf', { pageColor: '#abcdef' }],
  ['RATE_LIMIT', 'on', { rateLimit: loadSettings({}).rateLimit }],
  [
    'RATE_LIMIT',
    'requests=1/86400,authentications=999999999/1',
    {
      rateLimit: {
        authentications: { limit: 999_999_999, seconds: 1 },
        exchanges: { limit: 1_000, seconds: 60 },
        requests: { limit: 1, seconds: 86_400 },
      },
    },
  ],
])('%s=%s is read', (name, value, expected) => {
  expect(loadSettings({ [name]: value })).toMatchObject(expected);
});

test.each([
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '3000.5'],
  ['PORT', ' 3000'],
  ['PORT', '0x50'],
  ['HOST', 'a b'],
  ['HOST', 'http://a'],
  ['DATABASE_URL', ''],
  ['DATABASE_URL', 'postgres://user:quick/silver@host/db'],
  ['DATABASE_URL', 'file:'],
  ['DATABASE_URL', 'mongodb://'],
  ['DATABASE_URL', 'file:./a.db\nquicksilver'],
  ['ADMIN_SECRET', `quicksilver${'x'.repeat(20)}`],
  ['ADMIN_SECRET', 'a'.repeat(32)],
  // Seven different characters.
  ['ADMIN_SECRET', 'quicksi'.repeat(9)],
  ['ADMIN_SECRET_PREVIOUS', 'quicksi'.repeat(9)],
  ['ADMIN_HOST', 'a b'],
  ['ADMIN_PORT', '65536'],
  ['ADMIN_SECRET', `quicksilver ${'x'.repeat(40)}`],
  ['ADMIN_SECRET', `quicksilver${'ä'.repeat(40)}`],
  ['ADMIN_SECRET', `quicksilver${'x'.repeat(40)}\n`],
  ['PUBLIC_URL', 'a.example'],
  ['PUBLIC_URL', 'ftp://a.example'],
  ['PUBLIC_URL', 'https://user:quicksilver@a.example'],
  ['PUBLIC_URL', 'https://a.example/?quicksilver'],
  ['PUBLIC_URL', 'https://a.example/#quicksilver'],
  ['LOG_LEVEL', 'INFO'],
  ['TRUST_PROXY', 'yes'],
  ['TRUST_PROXY', '1'],
  ['DRAIN_SECONDS', '3601'],
  ['DRAIN_SECONDS', '1.5'],
  ['SHUTDOWN_SECONDS', '-1'],
  ['SHUTDOWN_SECONDS', '3601'],
  ['AUDIT', 'on'],
  ['AUDIT_DAYS', '3651'],
  ['MIN_FREE_MB', '1048577'],
  ['MIN_FREE_MB', '0.5'],
  ['REVOKED_GRANT_DAYS', '0'],
  ['METRICS', 'true'],
  ['SIGN_IN_URL', 'http://quicksilver.example/sign-in'],
  ['SIGN_IN_URL', 'https://a.example/sign-in?link=quicksilver'],
  ['SIGN_IN_URL', 'https://a.example/sign-in?a=b&%6Cink'],
  ['SIGN_IN_URL', 'https://a.example/sign-in#quicksilver'],
  ['SIGN_IN_URL', 'https://user:quicksilver@a.example/'],
  ['SIGN_IN_URL', 'https://a.example/\r\nquicksilver'],
  ['SIGN_IN_URL', '/sign-in'],
  ['CLIENT_REGISTRATION', 'quicksilver'],
  ['CLIENT_REGISTRATION', 'on,http://quicksilver.example/'],
  ['CLIENT_SCHEMES', 'quicksilver,'],
  ['CLIENT_SCHEMES', 'quicksilver,none'],
  ['CLIENT_SCHEMES', 'Quicksilver'],
  ['CLIENT_SCHEMES', 'quicksilver://'],
  ['CLIENT_SCHEMES', 'quicksilver??'],
  ['CLIENT_SCHEMES', 'default?'],
  ['CLIENT_SCHEMES', 'default, cursor'],
  ['CLIENT_SCHEMES', 'javascript'],
  ['CLIENT_SCHEMES', 'default,ms-msdt?'],
  ['CLIENT_SCHEMES', 'https'],
  ['CLIENT_SCHEMES', 'chrome-extension'],
  ['EVENTS_KEY', `quicksilver${'x'.repeat(20)}`],
  ['EVENTS_KEY_PREVIOUS', 'quicksi'.repeat(9)],
  ['OUTBOUND_ALLOW', 'quicksilver'],
  ['OUTBOUND_ALLOW', 'private, http'],
  ['OUTBOUND_ALLOW', 'private,'],
  ['OUTBOUND_ALLOW', 'https'],
  ['PAGE_NAME', 'quicksilver'.repeat(6)],
  ['PAGE_NAME', 'a\nb'],
  ['PAGE_NAME', ' '],
  ['PAGE_LOGO', 'http://127.0.0.1/logo.png'],
  ['PAGE_LOGO', 'data:text/html;base64,AA=='],
  ['PAGE_LOGO', 'javascript:quicksilver'],
  ['PAGE_HOME', 'http://quicksilver.example/'],
  ['PAGE_HOME', 'https://user:quicksilver@a.example/'],
  ['PAGE_HOME', 'javascript:quicksilver'],
  ['PAGE_COLOR', 'blue'],
  ['PAGE_COLOR', '#fff'],
  ['PAGE_COLOR', '#ffffff}'],
  ['PAGE_TEXTS', '/nowhere/quicksilver.json'],
  ['RATE_LIMIT', 'true'],
  ['RATE_LIMIT', '100/60'],
  ['RATE_LIMIT', 'quicksilver=100/60'],
  ['RATE_LIMIT', 'toString=100/60'],
  ['RATE_LIMIT', 'requests=100'],
  ['RATE_LIMIT', 'requests=100/60,'],
  ['RATE_LIMIT', 'requests=100/60, exchanges=1/60'],
  ['RATE_LIMIT', 'requests=100/60,requests=200/60'],
  ['RATE_LIMIT', 'requests=0/60'],
  ['RATE_LIMIT', 'requests=1/0'],
  ['RATE_LIMIT', 'requests=1/86401'],
  ['RATE_LIMIT', 'requests=1000000000/60'],
  ['RATE_LIMIT', 'requests=-1/60'],
])('%s=%j stops the start with one line', (name, value) => {
  const read = () => loadSettings({ [name]: value });
  expect(read).toThrow(BadSetting);
  expect(read).toThrow(new RegExp(`^${name} must .+\\. Example: ${name}=\\S.*$`));
  expect(read).not.toThrow(/quick|silver|\n/);
});

test.each([...Object.keys(list), 'NODE_ENV'])(
  '%s is refused with the quotes that docker run --env-file keeps, and with white space around it',
  (name) => {
    for (const [value, fault] of [
      [`"quicksilver-and-many-letters-more-0123"`, 'must have no quotes around it'],
      [`'quicksilver-and-many-letters-more-0123'`, 'must have no quotes around it'],
      [' quicksilver-and-many-letters-more-0123', 'must not begin or end with white space'],
      ['quicksilver-and-many-letters-more-0123\t', 'must not begin or end with white space'],
    ]) {
      const read = () => loadSettings({ [name]: value });
      expect(read).toThrow(BadSetting);
      // An example with the quotes of a shell would be wrong in a file.
      expect(read).toThrow(new RegExp(`^${name} ${fault}.*\\. Example: ${name}=[^"']+$`));
      expect(read).not.toThrow(/quicksilver/);
    }
  },
);

test('quotes inside a value are a part of it', () => {
  const PAGE_NAME = `The "Blue" Shop's "Annex`;
  expect(loadSettings({ PAGE_NAME }).pageName).toBe(PAGE_NAME);
});

test.each([
  ['file:~/a.db', `DATABASE_URL=file:${homedir()}/a.db`],
  ['file:./my%20data/a.db?key=quicksilver', 'DATABASE_URL=file:./my data/a.db'],
])('DATABASE_URL=%s is refused with what was meant as the example', (DATABASE_URL, example) => {
  const read = () => loadSettings({ DATABASE_URL });
  expect(read).toThrow(/^DATABASE_URL must .+; write file:\S.*\. Example: /);
  expect(read).toThrow(`. Example: ${example}`);
  expect(read).not.toThrow(/quicksilver/);
});

const ADMIN_SECRET = 'quicksilver-and-31-letters-more-to-be-sure';

test('ADMIN_SECRET_PREVIOUS is read beside ADMIN_SECRET, and stops the start without it', () => {
  const previous = { ADMIN_SECRET_PREVIOUS: `${ADMIN_SECRET}-before` };
  expect(loadSettings({ ADMIN_SECRET, ...previous })).toMatchObject({
    adminSecret: ADMIN_SECRET,
    adminSecretPrevious: `${ADMIN_SECRET}-before`,
  });
  expect(() => loadSettings(previous)).toThrow(
    /^ADMIN_SECRET_PREVIOUS is set, but ADMIN_SECRET is/,
  );
});

const EVENTS_KEY = 'quicksilver-of-events-and-9-letters-more';

test('EVENTS_KEY_PREVIOUS is read beside EVENTS_KEY, and stops the start without it', () => {
  const previous = { EVENTS_KEY_PREVIOUS: `${EVENTS_KEY}-before` };
  expect(loadSettings({ EVENTS_KEY, ...previous })).toMatchObject({
    eventsKey: EVENTS_KEY,
    eventsKeyPrevious: `${EVENTS_KEY}-before`,
  });
  expect(() => loadSettings(previous)).toThrow(
    /^EVENTS_KEY_PREVIOUS is set, but EVENTS_KEY is not\. Set both\. Example: EVENTS_KEY=/,
  );
});

test('the keys of events are read again, but events are turned neither on nor off', async () => {
  const settings = loadSettings({ EVENTS_KEY });
  const EVENTS_KEY_PREVIOUS = EVENTS_KEY;
  const replaced = { EVENTS_KEY: `${EVENTS_KEY}-after`, EVENTS_KEY_PREVIOUS };
  const admitted: EventsKeys[] = [];
  const admit = async (keys: EventsKeys) => void admitted.push(keys);
  const refuse = () => Promise.reject(new BadSetting('It is another key.'));
  await expect(readSecretsAgain(settings, replaced, refuse)).rejects.toThrow(BadSetting);
  expect(settings).toMatchObject({ eventsKey: EVENTS_KEY, eventsKeyPrevious: null });
  const names = ['EVENTS_KEY', 'EVENTS_KEY_PREVIOUS'];
  expect(await readSecretsAgain(settings, replaced, admit)).toEqual(names);
  expect(await readSecretsAgain(settings, replaced, admit)).toEqual([]);
  const { eventsKey, eventsKeyPrevious } = settings;
  expect([eventsKey, eventsKeyPrevious]).toEqual([`${EVENTS_KEY}-after`, EVENTS_KEY]);
  expect(admitted).toEqual([{ current: `${EVENTS_KEY}-after`, previous: EVENTS_KEY }]);
  // The database is asked only for these, so that it may be down for the others.
  const admin = { ...replaced, ADMIN_SECRET };
  expect(await readSecretsAgain(settings, admin, refuse)).toEqual(['ADMIN_SECRET']);
  for (const [before, after] of [
    [{ EVENTS_KEY }, {}],
    [{}, { EVENTS_KEY }],
  ] as const) {
    const unchanged = loadSettings(before);
    await expect(readSecretsAgain(unchanged, after, admit)).rejects.toThrow('takes a restart');
    expect(unchanged.eventsKey).toBe(Object.values(before)[0] ?? null);
  }
});

test('ADMIN_HOST is read beside ADMIN_PORT, and stops the start without it', () => {
  expect(loadSettings({ ADMIN_HOST: '::1', ADMIN_PORT: '9000' })).toMatchObject({
    adminHost: '::1',
    adminPort: 9000,
  });
  const read = () => loadSettings({ ADMIN_HOST: '::1' });
  expect(read).toThrow(BadSetting);
  expect(read).toThrow(/^ADMIN_HOST is set, but ADMIN_PORT is not\. .+Example: ADMIN_PORT=3001$/);
});

test('ADMIN_PORT is another port than PORT, on the same host', () => {
  const read = (more: NodeJS.ProcessEnv) => () => loadSettings({ ADMIN_PORT: '3000', ...more });
  expect(read({})).toThrow(
    /^ADMIN_PORT must be another port than PORT\. Example: ADMIN_PORT=3001$/,
  );
  expect(read({ ADMIN_HOST: '127.0.0.1' })).toThrow(BadSetting);
  expect(read({ ADMIN_HOST: '127.0.0.2' })).not.toThrow();
  expect(read({ PORT: '0', ADMIN_PORT: '0' })).not.toThrow();
});

describe('SIGN_IN_URL', () => {
  const SIGN_IN_URL = 'http://localhost:4000/sign-in?from=links';
  const PUBLIC_URL = 'https://link.example.com';

  test('turns the flow on', () => {
    expect(loadSettings({ SIGN_IN_URL, PUBLIC_URL, ADMIN_SECRET })).toMatchObject({
      signInUrl: SIGN_IN_URL,
    });
  });

  test.each([
    ['ADMIN_SECRET', { PUBLIC_URL }],
    ['PUBLIC_URL', { ADMIN_SECRET }],
  ])('stops the start without %s', (name, rest) => {
    const read = () => loadSettings({ SIGN_IN_URL, ...rest });
    expect(read).toThrow(BadSetting);
    expect(read).toThrow(
      new RegExp(`^SIGN_IN_URL is set, but ${name} is not\\. .+ Example: ${name}=`),
    );
  });

  test.each(['CLIENT_DOCUMENTS', 'CLIENT_REGISTRATION'])('has to be on for %s', (name) => {
    const read = (more: object) => () => loadSettings({ [name]: 'a.example', ...more });
    const refused = new RegExp(`^${name} is set, but SIGN_IN_URL is not\\. Set both\\.`);
    expect(read({ ADMIN_SECRET })).toThrow(refused);
    expect(read({ ADMIN_SECRET, [name]: 'off' })().signInUrl).toBeNull();
    // The demo has a sign-in page of its own.
    expect(read({})).not.toThrow();
  });

  test('stops the start if a browser would reach the pages without TLS', () => {
    const read = (url: string) => () =>
      loadSettings({ SIGN_IN_URL, ADMIN_SECRET, PUBLIC_URL: url });
    expect(read('http://link.example.com')).toThrow(
      /^PUBLIC_URL must start with https:.+ Example: PUBLIC_URL=https:/,
    );
    expect(read('http://127.0.0.1:3000')).not.toThrow();
  });
});

describe('PAGE_TEXTS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-texts-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const PAGE_TEXTS = join(folder, 'texts.json');

  function reading(content: unknown) {
    writeFileSync(PAGE_TEXTS, typeof content === 'string' ? content : JSON.stringify(content));
    return () => loadSettings({ PAGE_TEXTS });
  }

  test('is a file of texts by language', () => {
    const texts = {
      en: { 'consent.allow': 'Yes' },
      'PT-br': { 'consent.title': '{application}?' },
    };
    expect(reading(texts)().pageTexts).toEqual({
      en: { 'consent.allow': 'Yes' },
      'pt-BR': { 'consent.title': '{application}?' },
    });
  });

  test.each([
    ['{', /is not JSON/],
    ['[]', /is not an object of languages/],
    [{ de: 'Ja' }, /object of texts in "de"/],
    [{ german: {}, 'not a tag': {} }, /"not a tag", which is not a BCP 47/],
    [{ de: { 'consent.titel': 'x' } }, /the unknown text "consent.titel" in "de"/],
    [{ de: { toString: 'x' } }, /the unknown text "toString" in "de"/],
    [{ de: { 'consent.allow': 7 } }, /no words for "consent.allow" in "de"/],
    [{ de: { 'consent.allow': ' ' } }, /no words for "consent.allow" in "de"/],
    [{ de: { 'consent.title': '{app}' } }, /the unknown placeholder {app} in "consent.title"/],
    [{ en: { 'consent.allow': '{application}' } }, /placeholder {application} in "consent.allow"/],
  ])('%j stops the start', (content, message) => {
    const read = reading(content);
    expect(read).toThrow(BadSetting);
    expect(read).toThrow(/^PAGE_TEXTS: the file .+ run: latchkey page texts$/);
    expect(read).toThrow(message);
  });
});

/** What a previous secret needs beside it. */
function besides(name: string, current: { ADMIN_SECRET: string; EVENTS_KEY: string }) {
  const { ADMIN_SECRET, EVENTS_KEY } = current;
  if (name === 'ADMIN_SECRET_PREVIOUS') return { ADMIN_SECRET };
  return name === 'EVENTS_KEY_PREVIOUS' ? { EVENTS_KEY } : {};
}

describe.each([
  ['DATABASE_URL', 'mongodb://user:quicksilver@host/db', 'databaseUrl'],
  ['ADMIN_SECRET', ADMIN_SECRET, 'adminSecret'],
  ['ADMIN_SECRET_PREVIOUS', ADMIN_SECRET, 'adminSecretPrevious'],
  ['EVENTS_KEY', EVENTS_KEY, 'eventsKey'],
  ['EVENTS_KEY_PREVIOUS', EVENTS_KEY, 'eventsKeyPrevious'],
] as const)('%s_FILE', (name, value, key) => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-settings-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const variable = `${name}_FILE`;
  const file = join(folder, 'value');
  const others = besides(name, { ADMIN_SECRET, EVENTS_KEY });

  function reading(content: string, more: NodeJS.ProcessEnv = {}) {
    writeFileSync(file, content);
    return () => loadSettings({ [variable]: file, ...others, ...more });
  }
  function expectOneLine(read: () => void, pattern: RegExp): void {
    expect(read).toThrow(BadSetting);
    expect(read).toThrow(pattern);
    expect(read).toThrow(new RegExp(` Example: ${variable}=/\\S+$`));
    expect(read).not.toThrow(/quick|silver|\n/);
  }

  test.each([
    ['', ''],
    ['a line break', '\n'],
    ['that of Windows', '\r\n'],
  ])('contains the value, followed by %s', (_, end) => {
    const settings = reading(value + end)();
    expect(settings[key]).toBe(value);
    expect(settings.databaseIsDefault).toBe(name !== 'DATABASE_URL');
  });

  test.each([
    ['is empty', ''],
    ['has a wrong value', 'quicksilver'],
    ['begins with an empty line', `\n${value}`],
    ['has quotes', `"${value}"\n`],
  ])('stops the start if the file %s', (_, content) => {
    expectOneLine(
      reading(content),
      new RegExp(`^${variable}: the value in the file must .+\\. Example`),
    );
  });

  test('stops the start if it names no readable file', () => {
    for (const [path, code] of [
      [join(folder, 'quicksilver'), 'ENOENT'],
      [folder, 'EISDIR'],
    ] as const) {
      expectOneLine(
        reading('', { [variable]: path }),
        new RegExp(`^${variable} must be the path of a file .+ \\(${code}\\)\\.`),
      );
    }
  });

  test('stops the start if its path has quotes', () => {
    expectOneLine(
      reading(value, { [variable]: `"${file}"` }),
      new RegExp(`^${variable} must have no quotes around it`),
    );
  });

  test('stops the start beside the other form', () => {
    expectOneLine(
      reading(value, { [name]: value }),
      new RegExp(`^${name} and ${variable} are both set\\. Unset one of them\\.`),
    );
  });
});

test('an empty DATABASE_URL_FILE stops the start, like an empty DATABASE_URL', () => {
  expect(() => loadSettings({ DATABASE_URL_FILE: '' })).toThrow(/^DATABASE_URL_FILE must be/);
  const both = { DATABASE_URL: '', DATABASE_URL_FILE: '/dev/null' };
  expect(() => loadSettings(both)).toThrow(/^DATABASE_URL and DATABASE_URL_FILE are both set/);
});

test('AUDIT=required cannot be had without a log', () => {
  const read = () => loadSettings({ AUDIT: 'required', LOG_LEVEL: 'silent' });
  expect(read).toThrow(BadSetting);
  expect(read).toThrow(/^AUDIT is required, but LOG_LEVEL=silent .+\. Example: .+$/);
  expect(loadSettings({ AUDIT: 'required', LOG_LEVEL: 'fatal' }).audit).toBe('required');
});

const shown = (environment: NodeJS.ProcessEnv) =>
  Object.fromEntries(
    settingsInForce(loadSettings(environment)).map(({ name, value, source }) => [
      name,
      `${value} ${source}`,
    ]),
  );

test('a value is the text that is in force, with its source', () => {
  const all = {
    PORT: '4000',
    TRUST_PROXY: 'true',
    METRICS: 'on',
    RATE_LIMIT: 'authentications=2/60',
    PUBLIC_URL: 'HTTPS://link.example/',
    CLIENT_DOCUMENTS: 'any,!evil.example',
    OUTBOUND_ALLOW: 'http,private',
    SIGN_IN_URL: 'https://host.example/sign-in',
    ADMIN_SECRET: 'quick-brown-fox-jumps-over-the-dog',
    REVOKED_GRANT_DAYS: '',
    PAGE_COLOR: '#AABBCC',
  };
  expect(shown(all)).toMatchObject({
    PORT: '4000 environment',
    HOST: '127.0.0.1 default',
    TRUST_PROXY: 'true environment',
    METRICS: 'on environment',
    RATE_LIMIT: 'authentications=2/60 environment',
    PUBLIC_URL: 'https://link.example environment',
    CLIENT_DOCUMENTS: 'any,!evil.example environment',
    OUTBOUND_ALLOW: 'http,private environment',
    REVOKED_GRANT_DAYS: 'null default',
    PAGE_COLOR: '#aabbcc environment',
    PAGE_TEXTS: 'null default',
    ADMIN_SECRET: 'null environment',
  });
});

describe('no part of a secret is shown', () => {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-shown-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const secret = randomBytes(32).toString('hex');
  const urls = [
    `mongodb://${secret}:${secret}@host.example:27017/db?authSource=${secret}`,
    `mongodb+srv://${secret}@host.example/db?authMechanismProperties=AWS_SESSION_TOKEN:${secret}`,
    `mongodb://user:${secret}@one.example:1,two.example:2/?replicaSet=rs&password=${secret}`,
    `postgresql://${secret}:${secret}@host.example:5432/db?sslmode=disable`,
    // The driver refuses these, and no reading of them may show a part.
    `mongodb://user:${secret}/x@host.example/db`,
    `mongodb://user:${secret}?x@host.example/db`,
    `mongodb://user:x@${secret}@host.example/db`,
    `mongodb://user:x@host.example/db?x=@${secret}`,
  ];
  const named = Object.entries(list)
    .filter(([, setting]) => 'fileExample' in setting)
    .map(([name]) => name);
  const cases = named.flatMap((name) =>
    (name === 'DATABASE_URL' ? urls : [secret]).map((text) => [name, text] as const),
  );

  test('every setting that can be a secret is tried', () => {
    expect(named).toEqual([
      'DATABASE_URL',
      ...['ADMIN_SECRET', 'ADMIN_SECRET_PREVIOUS'],
      ...['EVENTS_KEY', 'EVENTS_KEY_PREVIOUS'],
    ]);
  });

  test.each(cases)('of %s, given as a variable or a file', (name, text) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    const other = besides(name, { ADMIN_SECRET: secret, EVENTS_KEY: secret });
    for (const [environment, source] of [
      [{ [name]: text }, 'environment'],
      [{ [`${name}_FILE`]: file }, 'file'],
    ] as const) {
      const settings = settingsInForce(loadSettings({ ...other, ...environment }));
      expect(JSON.stringify(settings)).not.toContain(secret.slice(0, 8));
      expect(JSON.stringify(settings)).not.toContain(secret.slice(-8));
      expect(settings.find((setting) => setting.name === name)).toMatchObject({ source });
    }
  });

  // A new setting that takes a password in a URL has to be a secret.
  test.each(Object.keys(list))('%s takes no URL with a password, or hides it', (name) => {
    if (name === 'PAGE_NAME' || name === 'PAGE_TEXTS') return;
    const url = `https://user:${secret}@host.example/`;
    const others = {
      ADMIN_SECRET: secret,
      PUBLIC_URL: 'https://link.example',
      SIGN_IN_URL: 'https://host.example/sign-in',
    };
    try {
      expect(shown({ ...others, [name]: url })[name]).toBe('null environment');
    } catch (error) {
      expect(error).toBeInstanceOf(BadSetting);
    }
  });
});

test.each([
  ['mongodb://user:pass@one:1,two:2/latchkey?w=1', 'mongodb://one:1,two:2/latchkey'],
  ['mongodb+srv://host.example', 'mongodb+srv://host.example'],
  ['mongodb://[::1]:27017/latchkey', 'mongodb://[::1]:27017/latchkey'],
  ['mongodb://u:p%40ss@host/db', 'mongodb://host/db'],
  ['postgres://u:p%40ss@host/db?pool_size=5', 'postgres://host/db'],
  ['postgresql://u@%2Frun%2Fpostgresql/db', 'postgresql://%2Frun%2Fpostgresql/db'],
  ['file:./data/a@b.db', 'file:./data/a@b.db'],
  ['file:///srv/latchkey.db', 'file:///srv/latchkey.db'],
  ['file::memory:', 'file::memory:'],
])('DATABASE_URL=%s is shown as %s', (url, expected) => {
  expect(shown({ DATABASE_URL: url }).DATABASE_URL).toBe(`${expected} environment`);
});
