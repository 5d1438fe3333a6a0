import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Latchkey } from '@latchkey/client';
import { expressGuard, grantOf, protectedResource } from '@latchkey/client/guards';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express from 'express';

/** An MCP server whose only tool says who calls. */
export interface GuardedServer {
  /** Its address, which is the resource, too. */
  readonly url: string;
  /** The statuses of its responses to messages, oldest first. */
  readonly statuses: number[];
  close(): Promise<void>;
}

/**
 * Starts an MCP server.
 *
 * @param latchkeyUrl - the PUBLIC_URL of Latchkey
 * @param scope - what a grant needs
 */
export async function startMcpServer(latchkeyUrl: string, scope: string): Promise<GuardedServer> {
  const app = express();
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const statuses: number[] = [];

  const latchkey = new Latchkey({ baseUrl: latchkeyUrl, applicationSecret: null });
  app.use(protectedResource({ resource: url, authorizationServer: latchkeyUrl, scopes: [scope] }));
  app.use('/mcp', (_, response, next) => {
    response.on('finish', () => statuses.push(response.statusCode));
    next();
  });
  app.use('/mcp', expressGuard({ latchkey, resource: url, scope }));
  app.all('/mcp', async (request, response) => {
    const { username } = grantOf(request).account;
    const tools = new McpServer({ name: 'Notes', version: '1.0.0' });
    tools.registerTool('whoami', { description: 'Says who calls.' }, () => ({
      content: [{ type: 'text', text: username }],
    }));
    // Without a session: each request is a call of its own.
    const transport = new StreamableHTTPServerTransport();
    response.on('close', () => transport.close());
    await tools.connect(transport);
    await transport.handleRequest(request, response);
  });

  return {
    url,
    statuses,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
