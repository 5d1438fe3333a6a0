import { expect, test } from 'vitest';
import { parseDocumentHosts } from './hosts.ts';

const at = (host: string) => `https://${host}/client.json`;

test.each<[setting: string, taken: string[], refused: string[]]>([
  ['claude.ai', ['claude.ai'], ['www.claude.ai', 'xclaude.ai', 'claude.ai.evil.example', 'ai']],
  ['*.example.com', ['a.example.com', 'a.b.example.com'], ['example.com', 'xexample.com']],
  ['any', ['claude.ai', 'a.b.c'], ['localhost', 'intranet', '127.0.0.1', '[::1]']],
  ['any,!evil.example', ['claude.ai', 'a.evil.example'], ['evil.example']],
  ['!*.evil.example,any', ['evil.example'], ['a.evil.example', 'a.b.evil.example']],
  ['a.example.com,!*.example.com', [], ['a.example.com']],
  ['localhost', ['localhost'], ['a.localhost', '127.0.0.1']],
  ['127.0.0.1,[::1]', ['127.0.0.1', '[::1]'], ['localhost', '127.0.0.2']],
  ['xn--bcher-kva.example', ['xn--bcher-kva.example'], ['bcher.example']],
  ['!evil.example', [], ['evil.example', 'claude.ai']],
])('%s', (setting, taken, refused) => {
  const hosts = parseDocumentHosts(setting);
  for (const host of taken) expect([host, hosts?.has(at(host))]).toEqual([host, true]);
  for (const host of refused) expect([host, hosts?.has(at(host))]).toEqual([host, false]);
});

const A = 'https://a.example.com/oauth/client.json';
const B = 'https://a.example.com/b';

test.each<[setting: string, taken: string[], refused: string[]]>([
  [A, [A], [B, `${A}/`, A.replace('client', '%63lient'), A.replace('.com/', '.com:443/')]],
  [`${A},${B}`, [A, B], [`${B}c`]],
  [`any,!${A}`, [B], [A]],
  [`a.example.com,!${A}`, [B], [A]],
  [`${A},!a.example.com`, [], [A, B]],
  [`${A},!*.example.com,any`, ['https://b.example/a'], [A, B]],
  ['https://127.0.0.1:8443/a', ['https://127.0.0.1:8443/a'], ['https://127.0.0.1/a']],
])('%s, of whole addresses', (setting, taken, refused) => {
  const hosts = parseDocumentHosts(setting);
  for (const address of taken) expect([address, hosts?.has(address)]).toEqual([address, true]);
  for (const address of refused) expect([address, hosts?.has(address)]).toEqual([address, false]);
});

test.each([
  '',
  'claude.ai,',
  ',claude.ai',
  'claude.ai, chatgpt.com',
  'off,claude.ai',
  'off',
  '!any',
  '!',
  '!!evil.example',
  '*',
  '*.com',
  '*.localhost',
  '*.127.0.0.1',
  '*.0.0.1',
  'a.*.example',
  '*claude.ai',
  'claude',
  'Claude.ai',
  'claude.ai.',
  '.claude.ai',
  'claude..ai',
  'bücher.example',
  'claude.ai:443',
  'claude.ai:8443',
  '[::1]:8443',
  'https://claude.ai',
  'https://claude.ai/',
  'https://claude.ai/a?b',
  'https://CLAUDE.ai/a',
  '!https://claude.ai/a/../b',
  'http://claude.ai/a',
  'claude.ai/a',
  'a@claude.ai',
  '127.1',
  '0x7f.0.0.1',
  '2130706433',
  '::1',
  '[0:0:0:0:0:0:0:1]',
])('"%s" is no list of hosts', (setting) => {
  expect(parseDocumentHosts(setting)).toBeNull();
});

test('names an address and a host that it has without a star', () => {
  const hosts = parseDocumentHosts(`any,claude.ai,${A},*.example.com,!https://claude.ai/x`);
  expect(hosts?.names(at('claude.ai'))).toBe(true);
  expect(hosts?.names('https://claude.ai/x')).toBe(false);
  expect(hosts?.names(A)).toBe(true);
  expect(hosts?.names(B)).toBe(false);
  expect(hosts?.names(at('b.example'))).toBe(false);
});
