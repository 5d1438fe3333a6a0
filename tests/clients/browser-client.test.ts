import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCOPE } from './deployment.ts';
import { describeInWorlds } from './mcp/world.ts';

// docs/protocol/clients.md, "Clients in browsers".

describeInWorlds('a client that is a page of another origin', 'Chromium', (world, open) => {
  const site = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end());
  let origin = '';
  beforeAll(async () => {
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  });
  afterAll(() => site.close());

  test('reads the metadata, redeems a code and revokes its token, and reaches nothing else', async () => {
    const issuer = world.gateway.url;
    const client_id = await world.client('documented', 'page');
    const redirect_uri = 'http://127.0.0.1/callback';
    const code_verifier = randomBytes(32).toString('base64url');
    const query = new URLSearchParams({
      ...{ client_id, redirect_uri, response_type: 'code', scope: SCOPE, state: 'x' },
      code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const { page } = await open();
    await page.route('http://127.0.0.1/callback?*', (route) => route.fulfill({ body: 'done' }));
    await world.allow(page, `${issuer}/oauth/authorize?${query}`);
    const code = new URL(page.url()).searchParams.get('code') ?? '';

    await page.goto(origin);
    /** The status and the body that a script of the page sees; null if the browser hides them. */
    const call = (
      url: string,
      form?: Record<string, string>,
      headers: Record<string, string> = {},
    ) =>
      page.evaluate(
        async ([url, form, headers]) => {
          const body = form && new URLSearchParams(form);
          const method = body ? 'POST' : 'GET';
          const sent = { ...headers, 'mcp-protocol-version': '2026-07-28' };
          try {
            const response = await fetch(url, { method, headers: sent, ...(body && { body }) });
            const json = await response.json().catch(() => ({}));
            return { status: response.status, json: json as Record<string, string> };
          } catch {
            return null;
          }
        },
        [url, form, headers] as const,
      );

    const metadata = await call(`${issuer}/.well-known/oauth-authorization-server`);
    const { token_endpoint = '' } = metadata?.json ?? {};
    expect([metadata?.json.issuer, token_endpoint]).toEqual([issuer, `${issuer}/oauth/token`]);
    const exchange = { grant_type: 'authorization_code', code, redirect_uri, client_id };
    const wrong = { ...exchange, code_verifier: 'a'.repeat(43) };
    expect((await call(token_endpoint, wrong))?.status).toBe(400);
    const redeemed = await call(token_endpoint, { ...exchange, code_verifier });
    const token = redeemed?.json.access_token ?? '';
    expect(token).toMatch(/^lk_grant_/);

    const authorization = { authorization: `Bearer ${token}` };
    for (const [path, form] of [
      ['/v1/grant', undefined],
      ['/oauth/introspect', { token, client_id }],
      ['/admin/applications', undefined],
      ['/trpc/account.get', undefined],
    ] as const) {
      expect(await call(issuer + path, form, authorization), path).toBeNull();
    }
    const grant = () => fetch(`${issuer}/v1/grant`, { headers: authorization });
    expect((await grant()).status).toBe(200);
    expect((await call(`${issuer}/oauth/revoke`, { token, client_id }))?.status).toBe(200);
    expect((await grant()).status).toBe(401);
  });
});
