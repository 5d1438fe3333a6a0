import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createVouchers } from '../vouchers.ts';
import { describeRedirect } from './describe-redirect.ts';
import { addToQuery, redirectWithCode } from './redirect.ts';

test.each([
  ['https://app.example', 'https://app.example?code=1'],
  ['https://app.example/cb', 'https://app.example/cb?code=1'],
  ['https://app.example/cb?', 'https://app.example/cb?code=1'],
  ['https://app.example/cb?a=b?', 'https://app.example/cb?a=b?&code=1'],
  ['https://app.example/cb?a=%20b', 'https://app.example/cb?a=%20b&code=1'],
  ['com.example.app:/cb', 'com.example.app:/cb?code=1'],
])('what is added to %s leaves it as it was', (uri, expected) => {
  expect(addToQuery(uri, { code: '1', state: null })).toBe(expected);
});

test('a state comes back unchanged, whatever it has in it, and breaks no header', () => {
  const linking = {
    publicUrl: 'https://link.example',
    clientDocuments: null,
    signInUrl: 'https://host.example',
    vouchers: createVouchers(null, ''),
  };
  const state = fc.stringMatching(/^[\x20-\x7e]{1,60}$/);
  fc.assert(
    fc.property(state, (sent) => {
      const target = { redirect_uri: 'https://app.example/cb?a=b', state: sent, document: null };
      const location = redirectWithCode(linking, target, 'lk_code_x');
      expect(location).toMatch(/^https:\/\/app\.example\/cb\?a=b&[!-~]+$/);
      const { searchParams } = new URL(location);
      expect([...searchParams]).toEqual([
        ['a', 'b'],
        ['code', 'lk_code_x'],
        ['state', sent],
        ['iss', 'https://link.example'],
      ]);
    }),
  );
});

test.each([
  ['https://App.Example:8443/cb', 'app.example', 'web'],
  ['http://[::1]:8080/cb', '[::1]', 'loopback'],
  // Any port of five digits matches, also one that no browser takes.
  ['http://127.0.0.1:99999/cb', '127.0.0.1', 'loopback'],
  ['http://localhost', 'localhost', 'loopback'],
  ['https://localhost.example', 'localhost.example', 'web'],
  ['https://app.example?a=1', 'app.example', 'web'],
  ['com.example.app:/cb', 'com.example.app', 'app'],
  ['com.example.app://localhost', 'com.example.app', 'app'],
  ['Cursor://app.example/cb', 'cursor', 'app'],
])('%s leads to %s, in words: %s', (uri, redirect_host, redirect_kind) => {
  expect(describeRedirect(uri)).toEqual({ redirect_host, redirect_kind });
});
