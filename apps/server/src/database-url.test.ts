import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { pathOf } from '@latchkey/store-sqlite/driver';
import { expect, test } from 'vitest';
import { databaseUrlFault } from './database-url.ts';

const home = resolve(homedir());

test.each([
  ['file::memory:', ':memory:'],
  ['file:a.db', 'a.db'],
  ['file:./data/latchkey.db', './data/latchkey.db'],
  ['file:../a.db', '../a.db'],
  ['file:/srv/a.db', '/srv/a.db'],
  ['file:///srv/a.db', '/srv/a.db'],
  ['file:./my data/a+b@c:&=;é.db', './my data/a+b@c:&=;é.db'],
  ['file:./~/$x/a.db', './~/$x/a.db'],
])('%s is the path %s as it is written', (url, path) => {
  expect(databaseUrlFault(url)).toBeNull();
  expect(pathOf(url)).toBe(path);
});

test.each([
  ...['mongodb://host', 'mongodb+srv://user:p%40ss@host/db?w=1'],
  ...['postgres://user@host/db', 'postgresql://user:p%40ss@host:6432/db?sslmode=verify-full'],
])('%s is taken', (url) => {
  expect(databaseUrlFault(url)).toBeNull();
});

// Each made a database somewhere else, or none, without a word.
test.each([
  // A host.
  ['file://./data/a.db', ['file:./data/a.db']],
  ['file://../a.db', ['file:../a.db']],
  ['file://tmp/x/a.db', ['file:./tmp/x/a.db', 'file:///tmp/x/a.db']],
  ['file://a.db', ['file:./a.db']],
  ['file://localhost/srv/a.db', ['file:///srv/a.db']],
  ['file://ada:quicksilver@host/srv/a.db', ['file:///srv/a.db']],
  ['file:////srv/a.db', ['file:///srv/a.db']],
  // A query, a fragment, an encoding.
  ['file:./a.db?connection_limit=1', ['file:./a.db']],
  ['file:./a.db?key=quicksilver', ['file:./a.db']],
  ['file:///srv/data#1/a.db', ['file:///srv/data-1/a.db']],
  ['file:/my%20data/a.db', ['file:/my data/a.db']],
  ['file:///a%2Fb.db', ['file:///a/b.db']],
  ['file:./100%.db', ['file:./100-.db']],
  // What a shell expands.
  ['file:~/a.db', [`file:${home}/a.db`]],
  ['file://~/a.db', [`file:${home}/a.db`]],
  ['file:///~/a.db', [`file:${home}/a.db`]],
  ['file:$HOME/a.db', [`file:${home}/a.db`]],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as somebody writes it
  ['file:${HOME}/a.db', [`file:${home}/a.db`]],
  ['file:~ada/a.db', []],
  ['file:$DATA/a.db', []],
  // Another scheme, or none.
  ['sqlite:./a.db', ['file:./a.db']],
  ['sqlite:///a.db', ['file:./a.db', 'file:///a.db']],
  ['sqlite:////srv/a.db', ['file:///srv/a.db']],
  ['sqlite3:a.db', ['file:a.db']],
  ['jdbc:sqlite:a.db', ['file:a.db']],
  ['FILE:./a.db', ['file:./a.db']],
  ['file:file:./a.db', ['file:./a.db']],
  ['file:sqlite:./a.db', ['file:./a.db']],
  ['./data/a', ['file:./data/a']],
  ['/srv/a.db', ['file:/srv/a.db']],
  ['a.sqlite', ['file:a.sqlite']],
  ['~/a.db', [`file:${home}/a.db`]],
  // Windows.
  ['file:\\srv\\a.db', ['file:/srv/a.db']],
  ['file:C:\\data\\a.db', ['file:C:/data/a.db']],
  ['C:\\data\\a.db', ['file:C:/data/a.db']],
  ['file://C:/data/a.db', ['file:C:/data/a.db']],
  // White space, quotes, control characters.
  [' file:./a.db', ['file:./a.db']],
  ['file: ./a.db', ['file:./a.db']],
  ['file:./a.db ', ['file:./a.db']],
  ['file:"./a.db"', ['file:./a.db']],
  ['file:./a.db\nquicksilver', []],
  ['file:./a%0Aquicksilver.db', []],
  // No database that is kept.
  [':memory:', ['file::memory:']],
  ['file:memory:', ['file::memory:']],
  ['sqlite::memory:', ['file::memory:']],
  ['file::memory:?cache=shared', ['file::memory:']],
  // No file.
  ['', []],
  ['file:', []],
  ['file://', []],
  ['file:///', []],
  ['file:./data/', []],
  ['file:..', []],
  // It may be anything, such as a secret.
  ['quicksilver', []],
  ['/quicksilver', []],
  ['mysql://ada:quicksilver@host/a.db', []],
  ['postgres://ada:quick/silver@host/db', []],
  ['postgres://ada@host/db?password=quicksilver', []],
  ['jdbc:postgresql://ada:quicksilver@host/db', []],
  ['mongodb:quicksilver', []],
  ['mongodb://', []],
] as const)('%j is refused, and %j was probably meant', (url, meant) => {
  const found = databaseUrlFault(url);
  expect(found?.fault).toMatch(/^must [^\n]+$/);
  expect(found?.meant).toBe(meant[0] ?? null);
  expect(found?.fault.split('; write ')[1]).toBe(meant.length > 0 ? meant.join(' or ') : undefined);
  expect(found?.fault).not.toContain('quicksilver');
  for (const address of meant) expect(databaseUrlFault(address)).toBeNull();
});

test('a path from the home directory is absolute', () => {
  const meant = databaseUrlFault('file:~/a.db')?.meant ?? '';
  expect(pathOf(meant)).toBe(resolve(home, 'a.db'));
});
