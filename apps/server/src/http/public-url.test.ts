import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { callerAddress } from './forwarded.ts';
import { createPublicUrl } from './public-url.ts';

const request = (headers: IncomingMessage['headers'], localAddress = '10.0.0.1') => {
  const socket = { localAddress, localPort: 3000, remoteAddress: '10.9.9.9' };
  return { headers, socket } as unknown as IncomingMessage;
};
const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'a.example' };

test('is what is configured, whatever the request says', () => {
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
])('without a proxy, %j makes %s', (headers, expected) => {
  expect(createPublicUrl(null, false)(request(headers))).toBe(expected);
});

test.each([
  [{ host: 'b.example', ...forwarded }, 'https://a.example'],
  [{ host: 'b.example', 'x-forwarded-proto': 'https' }, 'https://b.example'],
  // A proxy appends: the last is its own word, what is before may be the caller's.
  [{ ...forwarded, 'x-forwarded-host': 'evil.example, a.example' }, 'https://a.example'],
  [{ host: 'b.example', 'x-forwarded-proto': 'https, http' }, 'http://b.example'],
  [{ host: 'b.example', 'x-forwarded-proto': 'javascript' }, 'http://b.example'],
  [{ host: 'b.example', 'x-forwarded-host': 'a.example"' }, 'http://10.0.0.1:3000'],
])('behind a proxy, %j makes %s', (headers, expected) => {
  expect(createPublicUrl(null, true)(request(headers))).toBe(expected);
});

test('puts an IPv6 address of its own in brackets', () => {
  expect(createPublicUrl(null, false)(request({}, '::1'))).toBe('http://[::1]:3000');
});

test('the caller is who the own proxy names', () => {
  const headers = { 'x-forwarded-for': '1.1.1.1, 2.2.2.2' };
  expect(callerAddress(request(headers), true)).toBe('2.2.2.2');
  expect(callerAddress(request(headers), false)).toBe('10.9.9.9');
  expect(callerAddress(request({ 'x-forwarded-for': ' ' }), true)).toBe('10.9.9.9');
});
