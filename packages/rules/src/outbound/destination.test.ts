import { describe, expect, test } from 'vitest';
import { isRefusedUrl, type OutboundAllow } from './destination.ts';

const NOTHING = { private: false, http: false };
const PRIVATE = { private: true, http: false };
const HTTP = { private: false, http: true };
const BOTH = { private: true, http: true };

/** For which settings of OUTBOUND_ALLOW a URL is refused. */
const refusedWith = (url: string) =>
  Object.entries({ '': NOTHING, private: PRIVATE, http: HTTP, 'private,http': BOTH })
    .filter(([, allow]) => isRefusedUrl(url, allow))
    .map(([setting]) => setting);

const ALWAYS = ['', 'private', 'http', 'private,http'];

const longest = `https://example.com/${'a'.repeat(480)}`;

test.each([
  ['https://example.com'],
  ['https://example.com:8443/events?a=b&c=%20'],
  ['HTTPS://EXAMPLE.com/'],
  ['https://example.com./'],
  ['https://8.8.8.8/'],
  ['https://134744072/'],
  ['https://[2606:4700::1]/'],
  ['https://mylocalhost/'],
  ['https://localhost.example.com/'],
  [longest],
])('%s is taken with every setting', (url) => expect(refusedWith(url)).toEqual([]));

test.each([
  [`${longest}a`],
  [''],
  ['example.com'],
  ['https:'],
  ['https:example.com'],
  ['https:///'],
  ['https://'],
  ['https://:443/'],
  ['https://user@example.com/'],
  ['https://user:password@example.com/'],
  ['https://@example.com/'],
  ['https://example.com/#'],
  ['https://example.com/#a'],
  ['https://example.com:65536/'],
  ['https://exa%6dple.com/'],
  ['https://exämple.com/'],
  ['https://example.com/ä'],
  ['https://example.com/a b'],
  ['https://example.com/\\a'],
  ['https://example.com/%'],
  ['https://example.com/\n'],
  [' https://example.com/'],
  ['https://256.0.0.1/'],
  ['https://1.2.3.4.5/'],
  ['https://[::1/'],
  ['https://[fe80::1%25eth0]/'],
  ['ftp://example.com/'],
  ['ws://example.com/'],
  ['file:///etc/passwd'],
  ['data:,a'],
  // Their addresses are in no network of an operator.
  ['https://0/'],
  ['https://169.254.169.254/'],
  ['https://0xa9fea9fe/'],
  ['https://[::ffff:169.254.169.254]/'],
  ['https://168.63.129.16/'],
  ['https://100.100.100.200/'],
  ['https://[fd00:ec2::254]/'],
  ['https://[ff02::1]/'],
])('%s is refused with every setting', (url) => expect(refusedWith(url)).toEqual(ALWAYS));

test.each([
  ['https://127.0.0.1/'],
  ['https://127.0.0.1./'],
  ['https://127.1/'],
  ['https://2130706433/'],
  ['https://0x7f000001/'],
  ['https://0x7f.0.0.1/'],
  ['https://0177.0.0.1/'],
  ['https://017700000001/'],
  ['https://10.1.2.3/'],
  ['https://192.168.257/'],
  ['https://100.64.0.1/'],
  ['https://[::1]/'],
  ['https://[0:0:0:0:0:0:0:1]/'],
  ['https://[fd00::1]/'],
  ['https://[::ffff:127.0.0.1]/'],
  ['https://[::127.0.0.1]/'],
  ['https://[::ffff:0:10.0.0.1]/'],
  ['https://[64:ff9b::10.0.0.1]/'],
  ['https://[2002:7f00:1::]/'],
  ['https://localhost/'],
  ['https://LOCALHOST./'],
  ['https://localhost../'],
  ['https://a.b.localhost:8443/'],
  ['https://a.localhost./'],
])('%s is taken with private', (url) => expect(refusedWith(url)).toEqual(['', 'http']));

test('http: is taken with http, and each address needs what it needs by https:', () => {
  expect(refusedWith('http://example.com/')).toEqual(['', 'private']);
  expect(refusedWith('http://127.1/')).toEqual(['', 'private', 'http']);
  expect(refusedWith('http://a.localhost/')).toEqual(['', 'private', 'http']);
  expect(refusedWith('http://169.254.169.254/')).toEqual(ALWAYS);
});

describe('the own address', () => {
  const allow: OutboundAllow = { ...NOTHING, ownOrigin: 'http://127.0.0.1:3000' };

  test('is taken, by http: too', () => {
    expect(isRefusedUrl('http://127.0.0.1:3000/demo/events?a', allow)).toBe(false);
    expect(isRefusedUrl('https://example.com/', allow)).toBe(false);
  });

  test.each([
    'http://127.0.0.1:3001/',
    'http://127.0.0.1/',
    'https://127.0.0.1:3000/',
    'http://127.0.0.2:3000/',
    'http://localhost:3000/',
    'http://user@127.0.0.1:3000/',
    'http://127.0.0.1:3000/#a',
    'http://example.com:3000/',
  ])('but not %s', (url) => expect(isRefusedUrl(url, allow)).toBe(true));
});
