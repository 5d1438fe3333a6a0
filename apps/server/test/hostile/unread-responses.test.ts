import { ServerResponse } from 'node:http';
import { expect, test, vi } from 'vitest';
import { send } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { useServer } from '../http/running-server.ts';

/** Smaller ones are in the budget of each connection (`limit-connections.ts`). */
const LARGE = 16 * 1024;

const LARGE_PATHS = [
  '/openapi.json',
  '/docs/openapi.json',
  '/docs/errors',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui-bundle.js',
];

const SMALL_PATHS = [
  '/',
  '/docs',
  '/docs/page.css',
  '/docs/open.js',
  '/link/assets/page.css',
  '/link/assets/page.js',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource/v1',
  '/healthz',
  '/readyz',
];

describeOnAnyStore('a response that nobody reads', (fresh) => {
  const server = useServer(fresh, {
    PUBLIC_URL: 'https://link.example',
    SIGN_IN_URL: 'https://sign-in.example/',
  });

  async function partsOf(path: string): Promise<unknown[]> {
    const write = vi.spyOn(ServerResponse.prototype, 'write');
    const end = vi.spyOn(ServerResponse.prototype, 'end');
    try {
      expect((await send(server, { method: 'GET', path })).status).toBeLessThan(400);
      const [last] = end.mock.calls.at(-1) as unknown[];
      return [...write.mock.calls.map(([part]) => part), last];
    } finally {
      write.mockRestore();
      end.mockRestore();
    }
  }

  const isLarge = (part: unknown) => Buffer.byteLength(part as string | Buffer) > LARGE;

  test.each(LARGE_PATHS)('is no copy for each connection: %s', async (path) => {
    const [first, second] = [await partsOf(path), await partsOf(path)];
    const large = first.filter(isLarge);
    expect(large).toEqual([expect.any(Buffer)]);
    expect(second.filter(isLarge)[0]).toBe(large[0]);
  });

  test.each(SMALL_PATHS)('is small: %s', async (path) => {
    expect((await partsOf(path)).filter(isLarge)).toEqual([]);
  });
});
