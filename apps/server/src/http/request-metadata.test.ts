import type { IncomingMessage } from 'node:http';
import { redactorFor } from '@latchkey/rules/log/redactor';
import { expect, test } from 'vitest';
import {
  clientAddress,
  createPublicUrl,
  createRedaction,
  parseAuthorization,
} from './request-metadata.ts';

const request = (headers: IncomingMessage['headers'], localAddress = '10.0.0.1') => {
  const socket = { localAddress, localPort: 3000, remoteAddress: '10.9.9.9' };
  return { headers, socket } as unknown as IncomingMessage;
};
const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'a.example' };

test('the public URL is the configured one, whatever the request says', () => {
  const publicUrl = createPublicUrl('https://link.example', true);
  expect(publicUrl(request({ host: 'b.example', ...forwarded }))).toBe('https://link.example');
});

test.each([
  [{ host: 'b.example:81' }, 'http://b.example:81'],
  [{ host: '[2001:db8::1]' }, 'http://[2001:db8::1]'],
  [{ host: 'b.example', ...forwarded }, 'http://b.example'],
  [{ host: 'b.example/x' }, 'http://10.0.0.1:3000'],
  [{ host: 'b.example#' }, 'http://10.0.0.1:3000'],
  [{ host: 'a@b.example' }, 'http://10.0.0.1:3000'],
  [{ host: 'b.example:' }, 'http://10.0.0.1:3000'],
  [{}, 'http://10.0.0.1:3000'],
])('without a proxy, the public URL for %j is %s', (headers, expected) => {
  expect(createPublicUrl(null, false)(request(headers))).toBe(expected);
});

test.each([
  [{ host: 'b.example', ...forwarded }, 'https://a.example'],
  [{ host: 'b.example', 'x-forwarded-proto': 'https' }, 'https://b.example'],
  // A proxy appends: the last value is the proxy's, the client may have made up those before it.
  [{ ...forwarded, 'x-forwarded-host': 'evil.example, a.example' }, 'https://a.example'],
  [{ host: 'b.example', 'x-forwarded-proto': 'https, http' }, 'http://b.example'],
  [{ host: 'b.example', 'x-forwarded-proto': 'javascript' }, 'http://b.example'],
  [{ host: 'b.example', 'x-forwarded-host': 'a.example"' }, 'http://10.0.0.1:3000'],
])('behind a proxy, the public URL for %j is %s', (headers, expected) => {
  expect(createPublicUrl(null, true)(request(headers))).toBe(expected);
});

test('the public URL has a local IPv6 address in brackets', () => {
  expect(createPublicUrl(null, false)(request({}, '::1'))).toBe('http://[::1]:3000');
});

test('the address of the client is the one that the trusted proxy reports', () => {
  const headers = { 'x-forwarded-for': '1.1.1.1, 2.2.2.2' };
  expect(clientAddress(request(headers), true)).toBe('2.2.2.2');
  expect(clientAddress(request(headers), false)).toBe('10.9.9.9');
  expect(clientAddress(request({ 'x-forwarded-for': ' ' }), true)).toBe('10.9.9.9');
});

const redacted = createRedaction(redactorFor(new Set(['quicksilver'])));

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:4711', '203.0.113.7:4711'],
  ['[2001:db8::7]:4711', '[2001:db8::7]:4711'],
  ['fe80::1%eth0', 'fe80::1%eth0'],
  ['quicksilver', '[redacted]'],
  [`lk_app_${'1'.repeat(71)}`, '[redacted]'],
  ['\u009b2J203.0.113.7', null],
  ['7'.repeat(65), null],
  ['', null],
  [undefined, null],
])('the address %j is recorded as %j', (address, kept) => {
  expect(redacted('a', address)).toEqual({ request_id: 'a', address: kept });
});

test('a credential is removed from a recorded request id', () => {
  expect(redacted('quicksilver-1', undefined).request_id).toBe('[redacted]-1');
});

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
