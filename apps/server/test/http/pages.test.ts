import { errorCodes, errorDefinition } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { headersOf, send } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { useServer } from './running-server.ts';

const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; font-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

describeOnAnyStore('the pages', (fresh) => {
  const server = useServer(fresh);
  const get = (path: string) => send(server, { method: 'GET', path });

  test.each(['/docs', '/docs/errors'])('%s can load only files of the service', async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(headersOf(response)).toStrictEqual({
      'content-type': 'text/html; charset=UTF-8',
      'cache-control': 'no-store',
      'x-request-id': response.headers.get('x-request-id'),
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(response.text).toMatch(/^<!doctype html>/);
    const loaded = [...response.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(
      ([, url = '']) => url,
    );
    expect(loaded.length).toBeGreaterThan(1);
    expect(loaded.filter((url) => !/^(\/|#|data:,$)/.test(url) || url.startsWith('//'))).toEqual(
      [],
    );
    // The policy allows no inline script and no inline style.
    expect(response.text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
  });

  test('load files that exist', async () => {
    const { text } = await get('/docs');
    const files = [...text.matchAll(/(?:src|href)="(\/docs\/[^"]*)"/g)].map(([, url = '']) => url);
    expect(files.sort()).toEqual([
      '/docs/errors',
      '/docs/open.js',
      '/docs/swagger-ui-bundle.js',
      '/docs/swagger-ui.css',
    ]);
    for (const [path, type, least] of [
      ['/docs/open.js', 'text/javascript; charset=UTF-8', 100],
      ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=UTF-8', 500_000],
      ['/docs/swagger-ui.css', 'text/css; charset=UTF-8', 50_000],
      ['/docs/page.css', 'text/css; charset=UTF-8', 100],
    ] as const) {
      const response = await get(path);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
      expect(response.text.length).toBeGreaterThan(least);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect((await get('/docs/open.js')).text).toContain("url: '/docs/openapi.json'");
    expect((await get('/docs/open.js')).text).toContain('validatorUrl: null');
  });

  test('have one anchor for each error_code', async () => {
    const { text } = await get('/docs/errors');
    const anchors = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    expect(anchors).toEqual(errorCodes);
    for (const code of errorCodes) {
      const section = text.split(`id="${code}"`)[1]?.split('</section>')[0];
      expect(section).toContain(`Status ${errorDefinition(code).status},`);
    }
  });

  test('are where error_uri points', async () => {
    const { json } = await get('/v1/account');
    const uri = new URL(json.error_uri);
    const page = await fetch(uri);
    expect(await page.text()).toContain(`id="${uri.hash.slice(1)}"`);
  });
});
