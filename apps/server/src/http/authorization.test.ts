import { expect, test } from 'vitest';
import { parseAuthorization } from './authorization.ts';

test.each([
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['BEARER   abc  ', 'abc'],
  ['Bearer a:b=', 'a:b='],
])('"%s" is a bearer', (header, token) => {
  expect(parseAuthorization(header)).toEqual({ scheme: 'bearer', token });
});

test.each([
  ['user', 'password'],
  ['user', 'pass:word:'],
  ['', 'password'],
  ['user', ''],
  ['ü', 'ß'],
])('Basic is a user "%s" and a password "%s"', (user, password) => {
  const encoded = Buffer.from(`${user}:${password}`).toString('base64');
  for (const header of [`Basic ${encoded}`, `basic  ${encoded.replace(/=+$/, '')} `]) {
    expect(parseAuthorization(header)).toEqual({ scheme: 'basic', user, password });
  }
});

test.each([
  '',
  'Bearer',
  'Bearer ',
  'abc',
  'Bearer a b',
  'Bearer\tabc',
  'Bearerabc',
  'Digest abc',
  'Basic',
  `Basic ${btoa('no colon')}`,
  'Basic !!!',
  'Bearer a, Bearer b',
])('"%s" is neither', (header) => {
  expect(parseAuthorization(header)).toBeNull();
});
