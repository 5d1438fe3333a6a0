import { expect, test } from 'vitest';
import { BadSetting, loadSettings } from './settings.ts';

test('everything has a default', () => {
  expect(loadSettings({})).toMatchObject({
    port: 3000,
    host: '127.0.0.1',
    databaseUrl: 'file:./data/latchkey.db',
    databaseIsDefault: true,
    adminSecret: null,
    publicUrl: null,
    logLevel: 'info',
    trustProxy: false,
    shutdownSeconds: 10,
    auditDays: 30,
    metrics: false,
    rateLimit: {
      authentications: { limit: 1_000, seconds: 60 },
      exchanges: { limit: 1_000, seconds: 60 },
      requests: { limit: 300_000, seconds: 60 },
    },
  });
});

test('an empty setting counts as not set', () => {
  const names = [
    'PORT',
    'HOST',
    'DATABASE_URL',
    'ADMIN_SECRET',
    'PUBLIC_URL',
    'LOG_LEVEL',
    'TRUST_PROXY',
    'SHUTDOWN_SECONDS',
    'AUDIT_DAYS',
    'METRICS',
    'RATE_LIMIT',
  ];
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
  ['ADMIN_SECRET', '!"#~'.repeat(8), { adminSecret: '!"#~'.repeat(8) }],
  ['PUBLIC_URL', 'https://a.example//', { publicUrl: 'https://a.example' }],
  ['PUBLIC_URL', 'http://a.example:8080/b/', { publicUrl: 'http://a.example:8080/b' }],
  ['LOG_LEVEL', 'trace', { logLevel: 'trace' }],
  ['TRUST_PROXY', 'true', { trustProxy: true }],
  ['SHUTDOWN_SECONDS', '0', { shutdownSeconds: 0 }],
  ['AUDIT_DAYS', '0', { auditDays: 0 }],
  ['METRICS', 'on', { metrics: true }],
  ['METRICS', 'off', { metrics: false }],
  ['RATE_LIMIT', 'off', { rateLimit: null }],
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
  ['DATABASE_URL', 'postgres://user:quicksilver@host/db'],
  ['DATABASE_URL', 'file:'],
  ['DATABASE_URL', 'mongodb://'],
  ['DATABASE_URL', '/quicksilver.db'],
  ['ADMIN_SECRET', `quicksilver${'x'.repeat(20)}`],
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
  ['SHUTDOWN_SECONDS', '-1'],
  ['SHUTDOWN_SECONDS', '3601'],
  ['AUDIT_DAYS', '3651'],
  ['METRICS', 'true'],
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
  expect(read).toThrow(new RegExp(`^${name} (is|starts) .+\\. Example: ${name}=\\S.*$`));
  expect(read).not.toThrow(/quicksilver|\n/);
});
