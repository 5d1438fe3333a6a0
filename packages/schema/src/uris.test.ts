import { describe, expect, it } from 'vitest';
import { isLoopback, logoUri, redirectUri, splitUri, webUri } from './uris.ts';

const takes = (schema: typeof redirectUri, text: string) => schema.safeParse(text).success;

describe('a redirect URI', () => {
  it.each([
    'https://app.example/callback',
    'https://app.example',
    'HTTPS://App.Example:8443/CallBack;v=1?from=a%20b&x=/?',
    'https://[2001:db8::1]/cb',
    'http://127.0.0.1/cb',
    'http://127.0.0.1:0/cb',
    'http://[::1]:49152/cb',
    'http://localhost:3000',
    'com.example.app:/callback',
    'com.example.app://callback',
    'com.example.app:callback',
    'cursor://anysphere.cursor-retrieval/oauth/callback',
    'vscode://example.app/callback?a=b',
    'VSCode-Insiders://example.app',
    'https://app.example/cb?codes=1&statement=2&Code=3',
  ])('can be %s, and is kept as it was written', (uri) => {
    expect(redirectUri.parse(uri)).toBe(uri);
  });

  it.each([
    ['', 'empty'],
    ['/callback', 'no scheme'],
    ['https:///callback', 'no host'],
    ['https:/callback', 'no authority'],
    ['https://', 'no host either'],
    ['http://app.example/cb', 'http on another host'],
    ['http://127.0.0.2/cb', 'another loopback address'],
    ['http://127.1/cb', 'another way to write one'],
    ['http://localhost.evil.example/cb', 'a host that begins like one'],
    ['http://localhost@evil.example/cb', 'a user that looks like one'],
    ['http://[::ffff:127.0.0.1]/cb', 'a mapped one'],
    ['https://user@app.example/cb', 'a user'],
    ['https://:secret@app.example/cb', 'a password'],
    ['https://app.example/cb#', 'an empty fragment'],
    ['https://app.example/cb#x', 'a fragment'],
    ['https://*.app.example/cb', 'a wildcard in the host'],
    ['https://app.example/*', 'a wildcard in the path'],
    ['https://app.example/cb?code=1', 'a code of its own'],
    ['https://app.example/cb?a=b&st%61te', 'a state of its own, in escapes'],
    ['https://app.example/cb?iss=', 'an issuer of its own'],
    ['https://app.example/cb?error=x', 'an error of its own'],
    ['https://app.example/c b', 'a space'],
    ['https://app.example/c\tb', 'a tab, which browsers remove'],
    ['https://app.example/cb\r\nSet-Cookie: a=b', 'a line break'],
    ['https://app.example\\@evil.example/cb', 'a backslash, which browsers take for a slash'],
    ['https://äpp.example/cb', 'a letter beyond ASCII'],
    ['https://app.example/%', 'a percent sign alone'],
    ['https://app.example/%zz', 'an escape of no byte'],
    ['https://app.example:99999/cb', 'a port that there is not'],
    ['https://app.example:8443x/cb', 'letters in the port'],
    ['https://1.2.3.256/cb', 'an address that there is not'],
    ['https://[1.2.3.4]/cb', 'an IPv4 address in brackets'],
    [' https://app.example/cb', 'a space before'],
    ['custom:/cb', 'a scheme without a dot and without a host'],
    ['custom:///cb', 'such a scheme with an empty host'],
    ['custom://user@cb', 'a user in such a scheme'],
    ['chrome-extension://abc/cb', 'a page of a browser extension'],
    ['MOZ-Extension://abc/cb', 'one of another browser'],
    ['javascript:alert(1)', 'a script'],
    ['data:text/html,x', 'a document'],
    ['com.example.app://user@callback', 'a user in an own scheme'],
    [`https://app.example/${'a'.repeat(481)}`, '501 characters'],
  ])('is never %s: %s', (uri) => {
    expect(takes(redirectUri, uri)).toBe(false);
  });

  // A list of its own, so that no scheme leaves the one of the code by mistake.
  const others = `http https javascript data vbscript file filesystem blob about view-source ws wss
    ftp sftp mailto tel sms intent content android-app chrome edge brave resource jar ms-msdt ms-search
    search-ms shell ssh telnet ldap ldaps smb itms itms-apps market facetime steam magnet webcal`;

  it.each(others.split(/\s+/).filter((scheme) => scheme !== 'https'))(
    'never has the scheme %s, in any case of letters',
    (scheme) => {
      for (const written of [scheme, scheme.toUpperCase()]) {
        expect(takes(redirectUri, `${written}://app.example/cb`)).toBe(false);
      }
    },
  );

  it('has 500 characters at most', () => {
    expect(takes(redirectUri, `https://app.example/${'a'.repeat(480)}`)).toBe(true);
  });
});

describe('a page for people', () => {
  it.each(['https://app.example/', 'http://localhost:3000/?code=1', 'https://app.example/#about'])(
    'can be %s',
    (uri) => {
      expect(webUri.parse(uri)).toBe(uri);
    },
  );

  it.each([
    '',
    'com.example.app:/x',
    'http://app.example/',
    'https://u@app.example/',
    'javascript:alert(1)//https://app.example',
  ])('is never "%s"', (uri) => {
    expect(takes(webUri, uri)).toBe(false);
  });
});

describe('a logo', () => {
  const data = 'data:image/png;base64,';

  it.each([
    'https://app.example/logo.svg',
    `${data}AAAA`,
    'data:image/svg+xml;base64,PHN2Zz4=',
    data.padEnd(8_192, 'A'),
  ])('can be %s', (uri) => {
    expect(logoUri.parse(uri)).toBe(uri);
  });

  it.each([
    '',
    data,
    data.padEnd(8_193, 'A'),
    `https://app.example/${'a'.repeat(481)}`,
    'http://localhost/logo.png',
    'data:text/html;base64,AAAA',
    'data:image/svg+xml,<svg/>',
    'data:image/svg+xml;charset=utf-8;base64,AAAA',
    `${data}AA AA`,
    `${data}AAAA'; script-src *`,
  ])('is never "%s"', (uri) => {
    expect(takes(logoUri, uri)).toBe(false);
  });
});

it('splits a URI as it was written, but for the case of its scheme and host', () => {
  expect(splitUri('HTTP://LocalHost:80/A%20b?C=D#e')).toEqual({
    scheme: 'http',
    host: 'localhost',
    port: '80',
    path: '/A%20b',
    query: 'C=D',
    fragment: '#e',
  });
  expect(splitUri('com.example.app:/cb')).toMatchObject({ scheme: 'com.example.app', host: null });
});

it.each([
  ['http://127.0.0.1/', true],
  ['http://[::1]:8080/', true],
  ['http://LOCALHOST/', true],
  ['https://localhost/', false],
  ['http://127.0.0.1.example/', false],
])('whether %s is a loopback address: %s', (uri, expected) => {
  const parts = splitUri(uri);
  expect(parts !== null && isLoopback(parts)).toBe(expected);
});
