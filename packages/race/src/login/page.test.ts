import { expect, onTestFinished, test } from 'vitest';
import { startPageLogin } from './page.ts';

test('a request without a path that can be read is not found', async () => {
  const page = await startPageLogin('http://127.0.0.1:0/callback');
  onTestFinished(page.close);
  expect((await fetch(`${page.url}/`)).status).toBe(404);
});
