import { Client } from 'pg';
import { expect, test, vi } from 'vitest';
import { addressFault, poolConfigOf } from '../src/address.ts';

const server = { user: 'ada', host: 'db.example', port: 5432, database: 'latchkey' };

test.each([
  ['postgresql://ada:quick@db.example/latchkey', { ...server, ssl: false, max: 16 }, 'quick'],
  ['postgres://ada@db.example:6432/a-b', { ...server, port: 6432, database: 'a-b' }, ''],
  ['postgres://a%40b:p%2F%3F%3A@[::1]/d', { user: 'a@b', host: '::1', database: 'd' }, 'p/?:'],
  ['postgres://ada@%2Frun%2Fpostgresql/d', { host: '/run/postgresql' }, ''],
  ['postgres://ada@db.example/d?sslmode=verify-full&pool_size=40', { ssl: {}, max: 40 }, ''],
])('%s is read as it is written', (url, expected, password) => {
  expect(addressFault(url)).toBeNull();
  const config = poolConfigOf(url);
  expect(config).toMatchObject(expected);
  expect(config.password()).toBe(password);
});

test('nothing of the environment is in it', () => {
  vi.stubEnv('PGPASSWORD', 'quicksilver').stubEnv('PGSSLMODE', 'verify-full');
  const { password, ssl } = new Client(poolConfigOf('postgres://ada@db.example/d')) as unknown as {
    password: () => string;
    ssl: unknown;
  };
  vi.unstubAllEnvs();
  expect([password(), ssl]).toEqual(['', false]);
});

const LIKE = 'must be like postgresql://';

test.each([
  ['postgres://', LIKE],
  ['postgres://db.example/latchkey', LIKE],
  ['postgres://ada@db.example', LIKE],
  ['postgres://ada@db.example/', LIKE],
  ['postgres://ada:quick@silver@db.example/d', LIKE],
  ['postgres://ada:quick/silver@db.example/d', LIKE],
  ['postgres://ada:quick?silver@db.example/d', LIKE],
  ['postgres://ada:quick:silver@db.example/d', LIKE],
  ['postgres://ada:quick%silver@db.example/d', LIKE],
  ['postgres://ada:quick%00silver@db.example/d', LIKE],
  ['postgres://ada:x@db.example/d?quick@silver', LIKE],
  // `pg` connects to none of these, or to the first alone.
  ['postgres://ada@one.example,two.example/d', LIKE],
  // `pg` would take these for the server, the password or nothing at all.
  ['postgres://ada@db.example/d?host=quicksilver', 'must have no options but sslmode,'],
  ['postgres://ada@db.example/d?password=quicksilver', 'must have no options but sslmode,'],
  ['postgres://ada@db.example/d?ssl_mode=verify-full', 'must have no options but sslmode,'],
  ['postgres://ada@db.example/d?sslmode=require', 'must have sslmode=verify-full'],
  ['postgres://ada@db.example/d?sslmode=prefer', 'must have sslmode=verify-full'],
  ['postgres://ada@db.example/d?sslrootcert=/ca.pem', 'must have sslmode=verify-full'],
  ['postgres://ada@db.example/d?sslmode=verify-full&sslkey=/k', 'must have both sslcert'],
  ['postgres://ada@db.example/d?pool_size=0', 'must have a pool_size from 1'],
])('%s is refused, and no part of it is named', (url, fault) => {
  expect(addressFault(url)).toContain(fault);
  expect(addressFault(url)).not.toMatch(/quick|silver|ada|db\.example|ca\.pem/);
  expect(() => poolConfigOf(url)).toThrow(`DATABASE_URL ${fault}`);
});

test('a file of certificates that is not there is named by its option', () => {
  const url = 'postgres://ada@db.example/d?sslmode=verify-full&sslrootcert=/none/quicksilver';
  expect(() => poolConfigOf(url)).toThrow(
    /^DATABASE_URL: cannot read the file of sslrootcert \(ENOENT\)$/,
  );
});
