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
  /** The files and pages that a page names, as paths. */
  const namedIn = (text: string, page: string) =>
    [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(
      ([, url = '']) => new URL(url, server.url + page),
    );

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
    const named = namedIn(response.text, path);
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter(({ href, origin }) => origin !== server.url && href !== 'data:,')).toEqual(
      [],
    );
    // The policy allows no inline script and no inline style.
    expect(response.text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
  });

  test('are at / for a person, and for a program at /docs', async () => {
    const at = async (accept: string) => {
      const init = { headers: { accept }, redirect: 'manual' } as const;
      const { status, headers } = await fetch(`${server.url}/`, init);
      const policy = headers.get('content-security-policy');
      return [status, headers.get('location'), headers.get('vary'), policy];
    };
    const page = [200, null, 'Accept', CONTENT_SECURITY_POLICY];
    expect(await at('text/html,application/xhtml+xml,*/*;q=0.8')).toEqual(page);
    for (const accept of ['*/*', 'application/json']) {
      expect(await at(accept)).toEqual([303, '/docs', 'Accept', null]);
    }
  });

  test('load files that exist', async () => {
    const { text } = await get('/docs');
    const files = namedIn(text, '/docs').map(({ pathname }) => pathname);
    expect(files.filter((path) => path.includes('.')).sort()).toEqual([
      '/docs/open.js',
      '/docs/page.css',
      '/docs/swagger-ui-bundle.js',
      '/docs/swagger-ui.css',
      '/openapi.json',
      '/openapi.json',
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
    expect((await get('/docs/open.js')).text).toContain("url: './docs/openapi.json'");
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
