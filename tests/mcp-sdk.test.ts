import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Latchkey } from '@latchkey/client';
import { LatchkeyAdmin } from '@latchkey/client/admin';
import { protectedResource } from '@latchkey/client/guards';
import { createTestServer, type TestServer } from '@latchkey/testing';
import express from 'express';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Link } from './support/mcp/link.ts';
import { sdks } from './support/mcp/sdks.ts';

// The official SDK of the Model Context Protocol, in both versions: its server guards itself with
// latchkeyVerifier, and its client signs in.

const DAY = 86_400_000;
const SCOPE = 'notes.read';

let latchkey: TestServer;
let admin: LatchkeyAdmin;
let reader: Latchkey;
let server: Server;
let url: string;
let link: Link;

const challenge = (error: string, description: string) =>
  [
    `Bearer error="${error}", error_description="${description}", scope="${SCOPE}"`,
    `resource_metadata="${new URL('/.well-known/oauth-protected-resource/mcp', url)}"`,
  ].join(', ');

describe.each(Object.entries(sdks))('the MCP SDK in version %s', (version, sdk) => {
  beforeEach(async () => {
    latchkey = await createTestServer({ scopes: [SCOPE, 'notes.write'] });
    const { baseUrl, adminSecret } = latchkey;
    admin = new LatchkeyAdmin({ baseUrl, adminSecret });
    reader = new Latchkey({ baseUrl, applicationSecret: null, maxRetries: 0 });
    const app = express();
    server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    await admin.resources.create({ resource: url, name: 'Notes' });

    const at = { resource: url, authorizationServer: baseUrl };
    app.use(protectedResource(at));
    const guard = sdk.bearerAuth({
      latchkey: reader,
      resource: url,
      requiredScopes: [SCOPE],
      resourceMetadataUrl: `${new URL('/.well-known/oauth-protected-resource/mcp', url)}`,
    });
    app.post('/mcp', guard, express.json(), sdk.server);
    // Clients ask for a stream, which this server does not have.
    app.all('/mcp', (_, response) => void response.sendStatus(405));

    const redirect_uri = 'http://127.0.0.1/callback';
    const { id } = await admin.applications.create({
      ...{ name: 'Assistant', public: true, redirect_uris: [redirect_uri], idle_days: 7 },
    });
    link = new Link(redirect_uri, { id, issuer: baseUrl });
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await latchkey.close();
  });

  /** From the refused call to the grant, as a client and its user. */
  async function signIn(scope?: string): Promise<void> {
    const asked = link.authorizationUrls.at(-1) ?? '';
    const callback = await latchkey.approve(asked, scope === undefined ? {} : { scope });
    await sdk.finish(url, link, callback);
  }
  const connect = () => sdk.connect(url, link);
  async function connectFirst() {
    await expect(connect()).rejects.toThrow(sdk.Unauthorized);
    await signIn();
    return connect();
  }

  /** What the guard says of the client's grant. */
  async function refusal(secret = link.grant?.access_token) {
    const headers = { authorization: `Bearer ${secret}` };
    const response = await fetch(url, { method: 'POST', headers });
    const { error } = (await response.json()) as { error?: string };
    return [response.status, error, response.headers.get('WWW-Authenticate')];
  }
  const DEAD =
    'The Authorization header contains no valid grant secret. Check that the secret is complete. If the grant was revoked, let the user link the account again.';

  const ends: Record<string, () => Promise<unknown>> = {
    'was revoked': async () => {
      const { grant_id } = await reader.grant(link.grant?.access_token ?? '');
      await latchkey.revoke(grant_id);
    },
    'was not used for too long': async () => latchkey.advance(9 * DAY),
  };
  test.each(Object.keys(ends))('a client whose grant %s signs in again', async (how) => {
    const client = await connectFirst();
    const ada = { content: [{ type: 'text', text: 'ada' }] };
    expect(await client.callTool({ name: 'whoami' })).toMatchObject(ada);

    await ends[how]?.();
    expect(await refusal()).toEqual([401, 'invalid_token', challenge('invalid_token', DEAD)]);
    await expect(client.callTool({ name: 'whoami' })).rejects.toThrow(sdk.Unauthorized);
    expect(link.authorizationUrls).toHaveLength(2);
    await signIn();
    expect(await client.callTool({ name: 'whoami' })).toMatchObject(ada);
    await client.close();
  });

  test('a grant of another resource is refused as a dead one, and the client signs in again', async () => {
    const resource = 'https://other.example/mcp';
    await admin.resources.create({ resource, name: 'Other' });
    const { code } = await latchkey.issueCode({ scope: SCOPE, resource });
    const { grant_secret } = await new Latchkey(latchkey).convert(code);
    link.grant = { access_token: grant_secret, token_type: 'bearer' };
    const foreign =
      'This grant is not for this resource. Let the user link the account for it, and send the secret of that grant.';
    expect(await refusal()).toEqual([401, 'invalid_token', challenge('invalid_token', foreign)]);
    const client = await connectFirst();
    expect(link.grant?.access_token).not.toBe(grant_secret);
    await client.close();
  });

  test('a grant that lacks a scope is refused with 403, and the client asks for the scope', async () => {
    await expect(connect()).rejects.toThrow(sdk.Unauthorized);
    const asked = new URL(link.authorizationUrls[0] ?? '');
    asked.searchParams.set('scope', 'notes.write');
    link.authorizationUrls.push(asked.href);
    await signIn();
    const lacking = challenge('insufficient_scope', 'Insufficient scope');
    expect(await refusal()).toEqual([403, 'insufficient_scope', lacking]);
    await expect(connect()).rejects.toThrow(sdk.Unauthorized);
    await signIn();
    await (await connect()).close();
  });

  test('a client keeps its grant while the grant cannot be checked', async () => {
    const client = await connectFirst();
    const { access_token } = link.grant ?? {};
    latchkey.failNext('store_unavailable');
    expect(await refusal()).toEqual([500, 'server_error', null]);
    await latchkey.close();
    expect(await refusal()).toEqual([500, 'server_error', null]);
    const failed = client.callTool({ name: 'whoami' });
    await expect(failed).rejects.not.toThrow(sdk.Unauthorized);
    expect(link.grant?.access_token).toBe(access_token);
    expect(link.authorizationUrls).toHaveLength(1);
    await client.close();
  });

  test('a client in a browser sends no header that is not allowed', async () => {
    const [toServer, toOthers] = [new Set<string>(), new Set<string>()];
    const watched: typeof fetch = (input, init) => {
      const sent = new URL(`${input}`).pathname === '/mcp' ? toServer : toOthers;
      for (const [name] of new Headers(init?.headers)) sent.add(name);
      return fetch(input, init);
    };
    await expect(sdk.connect(url, link, watched)).rejects.toThrow(sdk.Unauthorized);
    const callback = await latchkey.approve(link.authorizationUrls[0] ?? '');
    await sdk.finish(url, link, callback, watched);
    const client = await sdk.connect(url, link, watched);
    expect(version).toContain(client.protocolVersion);
    await client.listTools();
    await client.callTool({ name: 'whoami', arguments: { place: 'here' } });
    await client.close();

    // Every request may have it.
    const always = ['accept'];
    // Latchkey and the metadata of the server allow the same.
    const preflight = { origin: 'https://client.example', 'access-control-request-method': 'GET' };
    const metadata = new URL('/.well-known/oauth-protected-resource/mcp', url);
    const { headers } = await fetch(metadata, { method: 'OPTIONS', headers: preflight });
    const allowed = headers.get('Access-Control-Allow-Headers')?.split(', ') ?? [];
    expect([...always, ...allowed]).toEqual(expect.arrayContaining([...toOthers]));

    const guide = await readFile(new URL('../docs/guides/ai-clients.md', import.meta.url), 'utf8');
    const [, list = ''] = /the request headers\s+([\s\S]+?)\. Expose/.exec(guide) ?? [];
    const named = [...list.matchAll(/`([a-z-]+)/g)].map(([, name]) => name);
    const sent = [...toServer].map((name) => name.replace(/^(mcp-param-).*/, '$1'));
    expect(sent).toContain('authorization');
    expect([...always, ...named]).toEqual(expect.arrayContaining(sent));
  });
});
