/**
 * An MCP server with version 2 of the official SDK. Its tool lists the notes of the user whom the client acts for.
 * `expressGuard` asks Latchkey at each request, so the next call of a client that the user has
 * disconnected is refused.
 *
 * `start.ts` runs it. docs/guides/ai-clients.md explains it.
 */

import type { Latchkey } from '@latchkey/client';
import { expressGuard, grantOf, protectedResource } from '@latchkey/client/guards';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import express, { type Express } from 'express';

type NotesOf = (accountId: string) => string[];
interface At {
  /** The address of the MCP server, as it is registered at Latchkey. */
  resource: string;
  /** Latchkey's `PUBLIC_URL`. */
  authorizationServer: string;
}

export function createMcp(latchkey: Latchkey, at: At, notesOf: NotesOf): Express {
  const scope = 'notes.read';
  const app = express();
  app.use(protectedResource({ ...at, scopes: [scope] }));
  app.use('/mcp', expressGuard({ latchkey, resource: at.resource, scope }));

  app.post('/mcp', express.json(), async (request, response) => {
    const { account } = grantOf(request);
    // For this request alone: nothing outlives the request whose grant was checked.
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: 'notes', version: '1.0.0' });
      server.registerTool('list_notes', { description: 'Lists the notes of the user.' }, () => ({
        content: notesOf(account.id).map((text) => ({ type: 'text', text })),
      }));
      return server;
    });
    await toNodeHandler(handler)(request, response, request.body);
  });
  return app.all('/mcp', (_, response) => void response.set('Allow', 'POST').sendStatus(405));
}
