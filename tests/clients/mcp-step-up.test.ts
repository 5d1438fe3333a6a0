import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Latchkey } from '@latchkey/client';
import { expressGuard, protectedResource } from '@latchkey/client/guards';
import * as second from '@modelcontextprotocol/client';
import * as first from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInWorlds } from './mcp/world.ts';

// MCP clients of both versions of the SDK, unmodified, need one scope after the other.

const READ = 'notes.read';
const WRITE = 'notes.write';

/** An MCP server with a tool for each of two scopes. */
async function startMcpServer(latchkeyUrl: string): Promise<Server> {
  const app = express();
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const resource = urlOf(server, '/mcp');
  const latchkey = new Latchkey({ baseUrl: latchkeyUrl, applicationSecret: null });
  const guardOf = (scope: string) => expressGuard({ latchkey, resource, scope });
  const [readers, writers] = [guardOf(READ), guardOf(WRITE)];
  app.use(protectedResource({ resource, authorizationServer: latchkeyUrl }));
  app.post('/mcp', express.json(), (request, response, next) =>
    (request.body.params?.name === 'add_note' ? writers : readers)(request, response, next),
  );
  app.post('/mcp', async (request, response) => {
    const mcp = new McpServer({ name: 'notes', version: '1.0.0' });
    for (const tool of ['list_notes', 'add_note']) {
      mcp.registerTool(tool, {}, () => ({ content: [{ type: 'text', text: `${tool} is done` }] }));
    }
    const transport = new StreamableHTTPServerTransport();
    response.on('close', () => mcp.close());
    await mcp.connect(transport);
    await transport.handleRequest(request, response, request.body);
  });
  app.all('/mcp', (_, response) => void response.set('Allow', 'POST').sendStatus(405));
  return server;
}

const urlOf = (server: Server, path: string) =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

/** A client's memory, and where the SDK sends the browser of its user. */
class Memory {
  readonly redirectUrl: string;
  readonly clientMetadataUrl: string;
  readonly clientMetadata: { redirect_uris: string[] };
  /** Each authorization request that it was sent to. */
  readonly asked: URL[] = [];
  client: { client_id: string } | undefined;
  grant: second.OAuthTokens | undefined;
  verifier = '';
  discovery: second.OAuthDiscoveryState | undefined;

  constructor(redirectUrl: string, document: string) {
    this.redirectUrl = redirectUrl;
    this.clientMetadataUrl = document;
    this.clientMetadata = { redirect_uris: [redirectUrl] };
  }
  state = () => 'the-state-of-the-client';
  clientInformation = () => this.client;
  saveClientInformation = (client: { client_id: string }) => {
    this.client = client;
  };
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier: string) => {
    this.verifier = verifier;
  };
  discoveryState = () => this.discovery;
  saveDiscoveryState = (discovery: second.OAuthDiscoveryState) => {
    this.discovery = discovery;
  };
  redirectToAuthorization = (url: URL) => void this.asked.push(url);
  tokens = () => this.grant;
  saveTokens = (grant: second.OAuthTokens) => {
    this.grant = grant;
  };
}

const versions = {
  1: (url: URL, memory: Memory) => {
    const transport = new StreamableHTTPClientTransport(url, { authProvider: memory });
    const client = new first.Client({ name: 'client', version: '1.0.0' });
    return {
      connect: () => client.connect(transport),
      call: (name: string) => client.callTool({ name }),
      finish: (answer: URLSearchParams) => transport.finishAuth(answer.get('code') ?? ''),
      close: () => client.close(),
    };
  },
  2: (url: URL, memory: Memory) => {
    const transport = new second.StreamableHTTPClientTransport(url, { authProvider: memory });
    const client = new second.Client({ name: 'client', version: '1.0.0' });
    return {
      connect: () => client.connect(transport),
      call: (name: string) => client.callTool({ name }),
      finish: (answer: URLSearchParams) => transport.finishAuth(answer),
      close: () => client.close(),
    };
  },
};

describeInWorlds('a client that needs one scope after the other', '', (world, open) => {
  // Where the browser comes back to: the client listens on this device.
  const listener = createServer((_, response) => response.end('Go back to the client.'));
  let mcp: Server;
  beforeAll(async () => {
    await once(listener.listen(0, '127.0.0.1'), 'listening');
    mcp = await startMcpServer(world.gateway.url);
    await world.admin('PUT', `/scopes/${WRITE}`, { title: 'Write notes' });
    const resource = { resource: urlOf(mcp, '/mcp'), name: 'Notes', scopes: [READ, WRITE] };
    await world.admin('POST', '/resources', resource);
  });
  afterAll(() => {
    listener.close();
    mcp.closeAllConnections();
    mcp.close();
  });

  test.each([1, 2] as const)(
    'asks twice, and never again: version %d of the SDK',
    async (version) => {
      const document = await world.client('documented', `version-${version}`);
      const memory = new Memory(urlOf(listener, '/callback'), document);
      const newClient = () => versions[version](new URL(urlOf(mcp, '/mcp')), memory);
      const { page } = await open();

      /** What it asked for last, which the user allows. */
      async function allow(client: ReturnType<typeof newClient>): Promise<string | null> {
        const [asked] = memory.asked.slice(-1) as [URL];
        await world.allow(page, asked.href);
        await client.finish(new URL(page.url()).searchParams);
        return asked.searchParams.get('scope');
      }
      const done = (tool: string) => ({ content: [{ type: 'text', text: `${tool} is done` }] });

      const stranger = newClient();
      await expect(stranger.connect()).rejects.toThrow(/unauthorized/i);
      expect(await allow(stranger)).toBe(READ);
      const client = newClient();
      await client.connect();
      expect(await client.call('list_notes')).toMatchObject(done('list_notes'));
      await expect(client.call('add_note')).rejects.toThrow(/unauthorized/i);
      expect(await allow(client)).toBe(`${READ} ${WRITE}`);
      for (const tool of ['add_note', 'list_notes', 'add_note', 'list_notes']) {
        expect(await client.call(tool)).toMatchObject(done(tool));
      }
      await client.close();

      expect(memory.asked).toHaveLength(2);
      type List<Item> = { data: Item[] };
      type Application = { id: string; document_uri: string | null };
      const applications = await world.admin<List<Application>>('GET', '/applications');
      const own = applications.data.find(({ document_uri }) => document_uri === document);
      const path = `/grants?application_id=${own?.id}`;
      const grants = await world.admin<List<{ scope: string }>>('GET', path);
      expect(grants.data.map(({ scope }) => scope)).toEqual([`${READ} ${WRITE}`, READ]);
    },
  );
});
