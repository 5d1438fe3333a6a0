import { expect, it } from 'vitest';
import { resourceAddress } from './resource-address.ts';
import { resource } from './uris.ts';

it.each([
  ['https://mcp.example/mcp', 'https://mcp.example/mcp'],
  ['https://mcp.example/mcp/', 'https://mcp.example/mcp'],
  ['https://mcp.example', 'https://mcp.example'],
  ['https://mcp.example/', 'https://mcp.example'],
  ['HTTPS://MCP.Example:443/MCP', 'https://mcp.example/MCP'],
  ['https://mcp.example:80/', 'https://mcp.example:80'],
  ['https://mcp.example:8443/a/b', 'https://mcp.example:8443/a/b'],
  ['http://localhost:80/mcp', 'http://localhost/mcp'],
  ['http://127.0.0.1:443/', 'http://127.0.0.1:443'],
  ['HTTP://[::1]:3000', 'http://[::1]:3000'],
  ['https://[2001:DB8::1]/mcp', 'https://[2001:db8::1]/mcp'],
  ['https://mcp.example/~a/b;c=d,e@f:(g)', 'https://mcp.example/~a/b;c=d,e@f:(g)'],
  ['https://mcp.example/a%2Fb', 'https://mcp.example/a%2Fb'],
  ['https://mcp.example/a%2fb', 'https://mcp.example/a%2fb'],
  ['https://mcp.example/...', 'https://mcp.example/...'],
  ['https://mcp.example/.well-known', 'https://mcp.example/.well-known'],
])('%s is a resource, and is stored as %s', (text, address) => {
  expect(resourceAddress(text)).toBe(address);
  expect(resourceAddress(address)).toBe(address);
  expect(resource.parse(text)).toBe(address);
});

const longest = `https://mcp.example/${'a'.repeat(480)}`;

it('has at most 500 characters', () => {
  expect(longest).toHaveLength(500);
  expect(resourceAddress(longest)).toBe(longest);
  expect(resourceAddress(`${longest}a`)).toBeNull();
  expect(resourceAddress(`${longest}/`)).toBeNull();
});

it.each([
  ['', 'empty'],
  ['mcp.example/mcp', 'no scheme'],
  ['//mcp.example/mcp', 'no scheme either'],
  ['https:/mcp.example/mcp', 'no authority'],
  ['https:///mcp', 'no host'],
  ['https://:443/mcp', 'a port alone'],
  ['http://mcp.example/mcp', 'http on another host'],
  ['http://127.0.0.2/mcp', 'another loopback address'],
  ['http://127.1/mcp', 'another way to write one'],
  ['http://2130706433/mcp', 'a number for one'],
  ['http://localhost.evil.example/mcp', 'a host that begins like one'],
  ['ftp://mcp.example/mcp', 'another scheme'],
  ['urn:example:mcp', 'a name'],
  ['javascript:alert(1)', 'a script'],
  ['https://user@mcp.example/mcp', 'a user'],
  ['https://@mcp.example/mcp', 'an empty user'],
  ['https://mcp.example@evil.example/', 'a user that looks like the host'],
  ['https://mcp.example/mcp?a=b', 'a query'],
  ['https://mcp.example/mcp?', 'an empty query'],
  ['https://mcp.example/mcp#a', 'a fragment'],
  ['https://mcp.example/mcp#', 'an empty fragment'],
  ['https://mcp.example:/mcp', 'an empty port'],
  ['https://mcp.example:65536/mcp', 'a port that there is not'],
  ['https://mcp.example:+443/mcp', 'a sign in the port'],
  ['https://mcp.example//', 'two slashes at the end'],
  ['https://mcp.example//mcp', 'an empty segment'],
  ['https://mcp.example/mcp//', 'an empty segment at the end'],
  ['https://mcp.example/./mcp', 'a dot'],
  ['https://mcp.example/mcp/.', 'a dot at the end'],
  ['https://mcp.example/a/../mcp', 'two dots'],
  ['https://mcp.example/mcp/../', 'two dots at the end'],
  ['https://mcp.example/%2e/mcp', 'a dot in escapes'],
  ['https://mcp.example/a/%2E./mcp', 'two dots, one in escapes'],
  ['https://mcp.example/m cp', 'a space'],
  [' https://mcp.example/mcp', 'a space before'],
  ['https://mcp.example/mcp\n', 'a line break'],
  ['https://mcp.example/m\tcp', 'a tab, which browsers remove'],
  ['https://mcp.example\\@evil.example/', 'a backslash, which browsers take for a slash'],
  ['https://mcp.example/\u0000', 'a null'],
  ['https://mcp.example/ä', 'a letter beyond ASCII'],
  ['https://mcp.exämple/mcp', 'one in the host'],
  ['https://mcp.example/%', 'a percent sign alone'],
  ['https://mcp.example/%zz', 'an escape of no byte'],
  ['https://mcp%2eexample/mcp', 'an escape in the host'],
  ['https://1.2.3.256/mcp', 'an address that there is not'],
  ['https://[::1/mcp', 'an open bracket'],
])('%j is no resource: %s', (text) => {
  expect(resourceAddress(text)).toBeNull();
  expect(resource.safeParse(text).success).toBe(false);
});
