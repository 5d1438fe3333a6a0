import { describe, expect, test } from 'vitest';
import { mayRedirectTo, parseClientSchemes } from './redirect-uris.ts';

const hostOf = (length: number) => `${'a'.repeat(50)}.${'b'.repeat(length - 59)}.example`;

describe('a stranger', () => {
  test.each([
    ['default', `https://${hostOf(60)}:8443/cb?a=b`, true],
    ['default', `https://${hostOf(61)}/cb`, false],
    ['default', 'https://App.Example/cb', true],
    ['default', 'https://203.0.113.1/cb', true],
    ['default', 'https://2130706433/cb', false],
    ['default', 'https://0x7f.1/cb', false],
    ['default', 'https://127.1/cb', false],
    ['default', 'https://[::ffff:127.0.0.1]/cb', false],
    ['none', 'http://127.0.0.1/callback?a=b', true],
    ['none', 'http://[::1]:8080/', true],
    ['none', 'cursor://anysphere.cursor-deeplink/mcp/callback', false],
    ['default', 'cursor://anysphere.cursor-deeplink/mcp/callback', true],
    ['default', 'Cursor://anysphere.cursor-deeplink/mcp/callback', true],
    ['default', 'cursor:/callback', false],
    ['default', 'vscode://vscode.microsoft-authentication/', true],
    ['default', 'vscode://vscode.git/clone?url=https://evil.example/', false],
    ['default', 'vscode://vscode.git/clone?', false],
    ['default', 'vscode://file/etc/passwd', false],
    ['default', 'VSCODE://FILE/etc/passwd', false],
    ['default,vscode?', 'vscode://file/etc/passwd?a', false],
    ['default,vscode?', 'vscode://app.example/cb?a=b', true],
    ['vscode?,default', 'vscode://app.example/cb?a=b', true],
    ['default,vscode?', 'vscode-insiders://app.example/cb?a=b', false],
    ['vscode', 'cursor://app.example/cb', false],
    ['default', 'com.example.app:/cb', false],
    ['com.example.app', 'com.example.app:/cb', true],
    ['com.example.app', 'com.example.app:/cb?a=b', false],
    ['default', 'ms-word://app.example/cb', false],
    ['default', 'http://app.example/cb', false],
    ['default', 'https://app.example/cb#fragment', false],
    ['default', null, false],
  ])('with CLIENT_SCHEMES=%s, may name %s: %s', (setting, uri, expected) => {
    const schemes = parseClientSchemes(setting);
    expect(schemes && mayRedirectTo(uri, schemes)).toBe(expected);
  });
});

test.each([
  `https://${hostOf(61)}/cb`,
  'ms-word://app.example/cb',
  'vscode://vscode.git/clone?url=https://evil.example/',
])('whom the operator vouches for may name %s', (uri) => {
  expect(mayRedirectTo(uri, 'all')).toBe(true);
});
