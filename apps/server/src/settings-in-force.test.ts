import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { BadSetting } from './bad-setting.ts';
import list from './settings.json' with { type: 'json' };
import { loadSettings } from './settings.ts';
import { settingsInForce } from './settings-in-force.ts';

const folder = mkdtempSync(join(tmpdir(), 'latchkey-settings-'));
afterAll(() => rmSync(folder, { recursive: true }));

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
    REVOKED_GRANT_DAYS: 'null default',
    PAGE_COLOR: '#aabbcc environment',
    PAGE_TEXTS: 'null default',
    ADMIN_SECRET: 'null environment',
  });
});

describe('no part of a secret is shown', () => {
  const secret = randomBytes(32).toString('hex');
  const urls = [
    `mongodb://${secret}:${secret}@host.example:27017/db?authSource=${secret}`,
    `mongodb+srv://${secret}@host.example/db?authMechanismProperties=AWS_SESSION_TOKEN:${secret}`,
    `mongodb://user:${secret}@one.example:1,two.example:2/?replicaSet=rs&password=${secret}`,
    // The driver refuses these, and no reading of them may show a part.
    `mongodb://user:${secret}/x@host.example/db`,
    `mongodb://user:${secret}?x@host.example/db`,
    `mongodb://user:x@${secret}@host.example/db`,
    `mongodb://user:x@host.example/db?x=@${secret}`,
    `file:./latchkey.db?key=${secret}`,
  ];
  const named = Object.entries(list)
    .filter(([, setting]) => 'fileExample' in setting)
    .map(([name]) => name);
  const cases = named.flatMap((name) =>
    (name === 'DATABASE_URL' ? urls : [secret]).map((text) => [name, text] as const),
  );

  test('every setting that can be a secret is tried', () => {
    expect(named).toEqual(['DATABASE_URL', 'ADMIN_SECRET', 'ADMIN_SECRET_PREVIOUS']);
  });

  test.each(cases)('of %s, given as a variable or a file', (name, text) => {
    const file = join(folder, name);
    writeFileSync(file, text);
    const other = name === 'ADMIN_SECRET_PREVIOUS' ? { ADMIN_SECRET: secret } : {};
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
  ['file:./data/a@b.db', 'file:./data/a@b.db'],
  ['file:///srv/latchkey.db', 'file:///srv/latchkey.db'],
  ['file::memory:', 'file::memory:'],
])('DATABASE_URL=%s is shown as %s', (url, expected) => {
  expect(shown({ DATABASE_URL: url }).DATABASE_URL).toBe(`${expected} environment`);
});
