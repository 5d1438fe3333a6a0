import { expect, onTestFinished, test } from 'vitest';
import { CLIENT, startFaultyServer } from '../test/faulty-server.ts';
import { run } from './run.ts';
import { Secrets } from './secrets.ts';

test.each([
  ['stopped at /callback?code=abc&state=def', 'stopped at /callback?code=…&state=…'],
  ['com.app:/callback?a=1&code=abc#x', 'com.app:/callback?a=1&code=…#x'],
  ['com.app:/#access_token=abc&id_token=def now', 'com.app:/#access_token=…&id_token=… now'],
  ['client_secret=abc&refresh_token=def', 'client_secret=…&refresh_token=…'],
  ['https://a.example/callback?code=abc now', 'https://a.example/callback now'],
  ['error_code=7, unicode=8', 'error_code=7, unicode=8'],
])('%s', (text, cleaned) => {
  expect(new Secrets().clean(text)).toBe(cleaned);
});

// Regression: each address was read to the end of the text.
test('a long text costs no time', () => {
  const text = 'http://'.repeat(50_000);
  const before = process.cpuUsage();
  expect(new Secrets().clean(text)).toBe(text.slice(0, 200));
  expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
});

test('nothing moves a cursor or turns a line', () => {
  expect(new Secrets().clean('an\u001b[1A\u202eerror\u2066of it')).toBe('an [1A error of it');
});

test.each([
  'code:a-code-of-a-user',
  'Error: a-code-of-a-user',
  'com.app:/a-code-of-a-user',
  'com.app://host/a-code-of-a-user',
])('a login that returns %s shows nothing of it', async (returned) => {
  const server = await startFaultyServer();
  onTestFinished(server.close);
  const report = await run({
    ...{ issuer: server.url, client: CLIENT, redirectUri: 'com.app:/callback', rows: [] },
    login: async () => returned,
  });
  expect(report.rows[0]?.verdict).toBe('error');
  expect(JSON.stringify(report)).not.toContain('a-code-of-a-user');
});
