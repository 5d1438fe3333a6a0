import { expect, test } from 'vitest';
import { parseAuthorization } from './request-metadata.ts';

test.each([
  ['Bearer abc', 'abc'],
  ['bearer abc', 'abc'],
  ['BEARER   abc  ', 'abc'],
  ['Bearer a:b=', 'a:b='],
])('"%s" is Bearer', (header, token) => {
  expect(parseAuthorization(header)).toEqual({ scheme: 'bearer', token });
});

test.each([
  ['user', 'password'],
  ['user', 'pass:word:'],
  ['', 'password'],
  ['user', ''],
  ['ü', 'ß'],
])('Basic has the user "%s" and the password "%s"', (user, password) => {
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
])('"%s" is neither Bearer nor Basic', (header) => {
  expect(parseAuthorization(header)).toBeNull();
});
