import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@latchkey/test-kit/free-port';
import { installFromLockfile } from '@latchkey/test-kit/tools-from-lockfile';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { Link } from '../support/mcp/link.ts';
import { sdks } from '../support/mcp/sdks.ts';
import { type Deployment, startDeployment } from './deployment.ts';
import { ADA } from './host.ts';
import { NOTE, startMcpServer, type WatchedServer } from './mcp/server.ts';
import { databaseOn, SCOPE } from './mcp/world.ts';

// Clients that publish no document and are not registered in advance, from their first 401 to a tool call.

const CURSOR = [
  'cursor://anysphere.cursor-mcp/oauth/callback',
  'https://www.cursor.com/agents/mcp/oauth/callback',
  'http://localhost:8787/callback',
] as const;

/** What each client sends, and where its user comes back to. */
const REQUESTS: Record<string, { redirect_uri: string; registration: object }> = {
  // https://github.com/erp-mafia/accounted/pull/2225, https://github.com/soflyy/agent-connector-for-wp/issues/111
  'Cursor, as an editor': {
    redirect_uri: CURSOR[0],
    registration: cursor([...CURSOR]),
  },
  'Cursor, in the web': {
    redirect_uri: CURSOR[1],
    registration: cursor([...CURSOR]),
  },
  'Cursor, on a loopback address': {
    redirect_uri: 'http://localhost:8788/callback',
    registration: cursor([...CURSOR]),
  },
  // packages/core/src/mcp/oauth-provider.ts of google-gemini/gemini-cli
  'Gemini CLI': {
    redirect_uri: 'http://localhost:7777/oauth/callback',
    registration: {
      client_name: 'Gemini CLI MCP Client',
      redirect_uris: ['http://localhost:7777/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: '',
    },
  },
};

function cursor(redirect_uris: string[]) {
  return {
    client_name: 'Cursor',
    redirect_uris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

/** The members of a response that the test uses: a wrong one fails it. */
const jsonOf = async (response: Promise<Response> | Response) =>
  (await (await response).json()) as Record<string, never>;

const remote = await installFromLockfile(
  fileURLToPath(new URL('mcp/remote', import.meta.url)),
  'mcp-remote',
).catch((error: Error) => error);

const TOOL = { content: [{ type: 'text', text: NOTE }] };

describe('a client that registers itself, on SQLite', () => testStore(undefined));
const mongodb = inject('mongodbUrl');
const notRun = mongodb ? '' : ' (not run: there is no MongoDB)';
describe.runIf(mongodb)(`a client that registers itself, on MongoDB${notRun}`, () =>
  testStore(mongodb),
);

function testStore(server: string | undefined): void {
  const database = server === undefined ? undefined : databaseOn(server);
  let deployment: Deployment;
  let mcp: WatchedServer;

  beforeAll(async () => {
    const settings = { CLIENT_REGISTRATION: CURSOR[1], PAGE_NAME: 'Example Shop' };
    deployment = await startDeployment('/link', { ...settings, ...database?.settings });
    const { admin, gateway } = deployment;
    mcp = await startMcpServer(gateway.url);
    await admin('PUT', `/scopes/${SCOPE}`, { title: 'Read your notes' });
    await admin('POST', '/resources', { resource: mcp.url, name: 'Notes', scopes: [SCOPE] });
  });
  afterAll(async () => {
    await mcp?.close();
    await deployment?.close();
    await database?.remove();
  });

  /** Allows what a client asks for, as its user in a browser. Returns the heading, and where the user is led. */
  async function allow(authorizationUrl: string): Promise<{ heading: string; answer: URL }> {
    const get = (url: string, headers = {}) => fetch(url, { redirect: 'manual', headers });
    const asked = await get(authorizationUrl);
    const link = new URL(asked.headers.get('location') ?? '').searchParams.get('link');
    const { redirect_to } = await deployment.admin<{ redirect_to: string }>(
      'POST',
      '/links/identify',
      { link, account_id: ADA.id },
    );
    const opened = await get(redirect_to);
    const [cookie = ''] = (opened.headers.get('set-cookie') ?? '').split(';');
    const address = (opened.headers.get('location') ?? '').replace(/\?.*/, '');
    const page = await (await get(address, { cookie })).text();
    const [, form_token = ''] = /name="form_token" value="([^"]+)"/.exec(page) ?? [];
    const body = new URLSearchParams({ form_token, decision: 'allow' });
    const allowed = await fetch(address, {
      ...{ method: 'POST', redirect: 'manual', body, headers: { cookie } },
    });
    let to = allowed.headers.get('location') ?? '';
    if (to.endsWith('/done?start')) {
      const done = await get(to, { cookie });
      to = (done.headers.get('refresh') ?? '').replace('0;url=', '');
    }
    const [, heading = ''] = /<h1>(.*?)<\/h1>/s.exec(page) ?? [];
    return { heading: heading.replaceAll(/<[^>]*>/g, ''), answer: new URL(to) };
  }

  test.each(Object.entries(REQUESTS))('%s', async (name, { redirect_uri, registration }) => {
    const stranger = await fetch(mcp.url, { method: 'POST' });
    const [, metadataUrl = ''] =
      /resource_metadata="([^"]+)"/.exec(stranger.headers.get('www-authenticate') ?? '') ?? [];
    const protectedResource = await jsonOf(fetch(metadataUrl));
    const [issuer = ''] = protectedResource.authorization_servers ?? [];
    const { origin, pathname } = new URL(issuer);
    const metadata = await jsonOf(
      fetch(`${origin}/.well-known/oauth-authorization-server${pathname}`),
    );

    const registered = await fetch(metadata.registration_endpoint ?? '', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(registration),
    });
    expect(registered.status).toBe(201);
    const { client_id = '', redirect_uris } = await jsonOf(registered);
    expect(redirect_uris).toEqual((registration as { redirect_uris: string[] }).redirect_uris);

    const verifier = 'a-verifier-of-the-client-with-43-characters-';
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
    const asked = new URLSearchParams({
      ...{ client_id, redirect_uri, response_type: 'code', state: 'a state' },
      code_challenge: Buffer.from(digest).toString('base64url'),
      code_challenge_method: 'S256',
      resource: mcp.url,
    });
    const { heading, answer } = await allow(`${metadata.authorization_endpoint}?${asked}`);
    expect(heading).toContain(
      name === 'Cursor, in the web'
        ? 'www.cursor.com, which calls itself “Cursor”'
        : `on this device${name.includes('editor') ? ' that opens cursor: links' : ''}, which calls itself “`,
    );
    expect(answer.href.startsWith(redirect_uri)).toBe(true);

    const token = await fetch(metadata.token_endpoint ?? '', {
      method: 'POST',
      body: new URLSearchParams({
        ...{ grant_type: 'authorization_code', code: answer.searchParams.get('code') ?? '' },
        ...{ redirect_uri, client_id, code_verifier: verifier, resource: mcp.url },
      }),
    });
    const { access_token = '', scope } = await jsonOf(token);
    expect([token.status, scope]).toEqual([200, SCOPE]);
    const authorization = `Bearer ${access_token}`;
    const called = await fetch(mcp.url, {
      method: 'POST',
      headers: {
        ...{ authorization, 'Content-Type': 'application/json' },
        Accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'list_notes' },
      }),
    });
    expect(await called.text()).toContain(NOTE);

    const form = { method: 'POST', body: new URLSearchParams({ client_id, token: access_token }) };
    expect((await fetch(metadata.revocation_endpoint ?? '', form)).status).toBe(200);
    const dead = await fetch(mcp.url, { method: 'POST', headers: { authorization } });
    expect(dead.status).toBe(401);
  });

  test.each(Object.entries(sdks))('the SDK of MCP, unmodified, in version %s', async (_, sdk) => {
    const link = new Link(`http://127.0.0.1:${await freePort()}/callback`);
    await expect(sdk.connect(mcp.url, link)).rejects.toThrow(sdk.Unauthorized);
    expect(link.client).toMatchObject({ redirect_uris: [link.redirectUrl] });
    const { answer } = await allow(link.authorizationUrls[0] ?? '');
    await sdk.finish(mcp.url, link, answer.href);
    const client = await sdk.connect(mcp.url, link);
    expect(await client.callTool({ name: 'list_notes' })).toMatchObject(TOOL);
    await client.close();
  });

  const missing =
    remote instanceof Error && !process.env.CI ? ' (not run: it is not installed)' : '';
  test.skipIf(missing !== '')(`mcp-remote${missing}`, async () => {
    if (remote instanceof Error) throw remote;
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-mcp-remote-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const program = join(remote, 'node_modules/mcp-remote/dist/proxy.js');
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, mcp.url, String(await freePort()), '--allow-http'],
      // With no browser, it only prints the address.
      env: { PATH: '/nowhere', HOME: folder, MCP_REMOTE_CONFIG_DIR: folder, BROWSER: 'none' },
      stderr: 'pipe',
    });
    let printed = '';
    transport.stderr?.on('data', (chunk) => {
      printed += chunk;
    });
    const client = new Client({ name: 'client', version: '1.0.0' });
    const connected = client.connect(transport);
    onTestFinished(() => client.close());
    const url = () => /^http\S+\/oauth\/authorize\?\S+$/m.exec(printed)?.[0];
    await expect.poll(url).toBeDefined();
    const { heading, answer } = await allow(url() ?? '');
    expect(heading).toContain('An application on this device, which calls itself “');
    expect((await fetch(answer)).status).toBe(200);
    await connected;
    expect(await client.callTool({ name: 'list_notes' })).toEqual(TOOL);
  });
}
