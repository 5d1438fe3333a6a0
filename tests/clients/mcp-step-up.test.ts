import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Latchkey } from '@latchkey/client';
import { expressGuard, protectedResource } from '@latchkey/client/guards';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Link } from '../support/mcp/link.ts';
import { sdks } from '../support/mcp/sdks.ts';
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

/** With the version of the protocol that the server has. */
const versions = Object.entries(sdks).filter(([version]) => version.endsWith(' 2025-11-25'));

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

  test.each(versions)(
    'asks twice, and never again: the SDK in version %s',
    async (version, sdk) => {
      const name = `version-${version.replaceAll(/\W+/g, '-')}`;
      const document = await world.client('documented', name);
      const link = new Link(urlOf(listener, '/callback'), { document });
      const url = urlOf(mcp, '/mcp');
      const { page } = await open();

      /** What it asked for last, which the user allows. */
      async function allow(): Promise<string | null> {
        const asked = link.authorizationUrls.at(-1) ?? '';
        await world.allow(page, asked);
        await sdk.finish(url, link, page.url());
        return new URL(asked).searchParams.get('scope');
      }
      const done = (tool: string) => ({ content: [{ type: 'text', text: `${tool} is done` }] });

      await expect(sdk.connect(url, link)).rejects.toThrow(sdk.Unauthorized);
      expect(await allow()).toBe(READ);
      const client = await sdk.connect(url, link);
      const call = (tool: string) => client.callTool({ name: tool });
      expect(await call('list_notes')).toMatchObject(done('list_notes'));
      await expect(call('add_note')).rejects.toThrow(sdk.Unauthorized);
      expect(await allow()).toBe(`${READ} ${WRITE}`);
      for (const tool of ['add_note', 'list_notes', 'add_note', 'list_notes']) {
        expect(await call(tool)).toMatchObject(done(tool));
      }
      await client.close();

      expect(link.authorizationUrls).toHaveLength(2);
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
