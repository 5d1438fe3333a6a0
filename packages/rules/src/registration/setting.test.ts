import { expect, test } from 'vitest';
import { parseRegistration } from './setting.ts';

const WHOLE = 'https://www.cursor.com/agents/mcp/oauth/callback';

test.each([
  ['on', []],
  ['app.example', ['https://app.example/', 'https://APP.example:8443/a?b=c']],
  ['APP.Example,on', ['https://app.example/']],
  [WHOLE, [WHOLE]],
  [`on,${WHOLE},app.example`, [WHOLE, 'https://app.example/']],
  ['HTTPS://app.example/a', ['HTTPS://app.example/a']],
])('%s lists %j', (text, listed) => {
  const setting = parseRegistration(text);
  expect(listed.map((uri) => setting?.lists(uri))).toEqual(listed.map(() => true));
});

test.each([
  ['on', 'https://app.example/'],
  ['app.example', 'https://sub.app.example/'],
  ['app.example', 'https://app.example./'],
  ['app.example', 'https://app.example.evil.example/'],
  ['app.example', 'https://evil.example/app.example'],
  ['app.example', 'http://app.example/'],
  ['app.example', 'app.example://app.example/'],
  [WHOLE, `${WHOLE}/`],
  [WHOLE, `${WHOLE}?a=b`],
  [WHOLE, WHOLE.toUpperCase()],
  [WHOLE, 'https://www.cursor.com/'],
])('%s does not list %s', (text, uri) => {
  expect(parseRegistration(text)?.lists(uri)).toBe(false);
});

test.each([
  ...['', 'off', 'any', 'ON', 'on,', ',on', 'on,off', 'on, app.example', 'localhost', 'example'],
  ...['127.0.0.1', '[::1]', '*.app.example', '!app.example', 'app.example:443', 'app.example.'],
  ...['http://app.example/', 'http://localhost/callback', 'cursor://a/b', 'app.example/callback'],
  ...['https://', 'https://app.example/#a', 'https://user@app.example/', 'https://*.app.example/'],
  ...['https://app.example/?code=1', `https://app.example/${'a'.repeat(500)}`, 'büro.example'],
])('%j is none', (text) => {
  expect(parseRegistration(text)).toBeUndefined();
});
