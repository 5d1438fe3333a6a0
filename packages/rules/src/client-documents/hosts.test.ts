import { expect, test } from 'vitest';
import { parseDocumentHosts } from './hosts.ts';

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
  for (const host of taken) expect([host, hosts?.has(host)]).toEqual([host, true]);
  for (const host of refused) expect([host, hosts?.has(host)]).toEqual([host, false]);
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

test('names a host that it has without a star', () => {
  const hosts = parseDocumentHosts('any,claude.ai,*.example.com');
  expect(hosts?.names('claude.ai')).toBe(true);
  expect(hosts?.names('a.example.com')).toBe(false);
  expect(hosts?.names('b.example')).toBe(false);
});
