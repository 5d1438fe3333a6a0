import { expect, test } from 'vitest';
import { isAddressOf } from './address.ts';

const REFUSED = [false, false];
const ALLOWED = [true, true];
const PRIVATE = [false, true];

test.each<[address: string, expected: boolean[]]>([
  ['https://claude.ai/oauth/claude-code-client-metadata', ALLOWED],
  ['https://vscode.dev/oauth/client-metadata.json', ALLOWED],
  ['https://localhost/a', ALLOWED],
  ['https://a.example:8443/a', ALLOWED],
  ['https://a.example:443/a', ALLOWED],
  ['https://a.example//', ALLOWED],
  ['https://a.example/a/', ALLOWED],
  ['https://a.example/a...b/.well-known/%2F', ALLOWED],
  ['https://xn--bcher-kva.example/a', ALLOWED],
  [`https://a.example/${'a'.repeat(482)}`, ALLOWED],
  ['https://127.0.0.1/a', PRIVATE],
  ['https://8.8.8.8/a', PRIVATE],
  ['https://[::1]:8443/a', PRIVATE],

  [`https://a.example/${'a'.repeat(483)}`, REFUSED],
  ['http://a.example/a', REFUSED],
  ['HTTPS://a.example/a', REFUSED],
  ['https:/a.example/a', REFUSED],
  ['https:///a.example/a', REFUSED],
  [' https://a.example/a', REFUSED],
  ['https://a.example', REFUSED],
  ['https://a.example/', REFUSED],
  ['https://a.example/a?', REFUSED],
  ['https://a.example/a?b', REFUSED],
  ['https://a.example/a#', REFUSED],
  ['https://a.example/a#b', REFUSED],
  ['https://a.example?/a', REFUSED],
  ['https://user@a.example/a', REFUSED],
  ['https://@a.example/a', REFUSED],
  ['https://:@a.example/a', REFUSED],
  ['https://a.example/./a', REFUSED],
  ['https://a.example/a/.', REFUSED],
  ['https://a.example/../a', REFUSED],
  ['https://a.example/a/..', REFUSED],
  ['https://a.example/%2e/a', REFUSED],
  ['https://a.example/a/.%2E/b', REFUSED],
  ['https://a.example/%2e%2e', REFUSED],
  ['https://A.example/a', REFUSED],
  ['https://a.example./a', REFUSED],
  ['https://%61.example/a', REFUSED],
  ['https://bücher.example/a', REFUSED],
  ['https://a.example/ä', REFUSED],
  ['https://a.example/a b', REFUSED],
  ['https://a.example/a\\b', REFUSED],
  ['https://a.example/%', REFUSED],
  ['https://a.example/%zz', REFUSED],
  ['https://a.example:99999/a', REFUSED],
  ['https://a.example:x/a', REFUSED],
  ['https://127.1/a', REFUSED],
  ['https://2130706433/a', REFUSED],
  ['https://0x7f000001/a', REFUSED],
  ['https://0177.0.0.1/a', REFUSED],
  ['https://127.0.0.1./a', REFUSED],
  ['https://[0:0:0:0:0:0:0:1]/a', REFUSED],
  ['https://[::ffff:127.0.0.1]/a', REFUSED],
  ['https:///a', REFUSED],
  ['', REFUSED],
])('%s', (address, expected) => {
  const taken = [false, true].map((allowPrivate) => isAddressOf(address, { allowPrivate }));
  expect(taken).toEqual(expected);
});
