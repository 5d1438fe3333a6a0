import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Latchkey } from '@latchkey/client';
import express from 'express';
import { createMcp } from '../../../examples/mcp/server.ts';

/** What its tool lists. */
export const NOTE = 'Sketch of the engine';

/** The MCP server of `examples/mcp`. */
export interface WatchedServer {
  /** Its address, which is the resource, too. */
  readonly url: string;
  /** The statuses of its responses to messages, oldest first. */
  readonly statuses: number[];
  close(): Promise<void>;
}

/** @param latchkeyUrl - the PUBLIC_URL of Latchkey */
export async function startMcpServer(latchkeyUrl: string): Promise<WatchedServer> {
  const app = express();
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const statuses: number[] = [];
  app.post('/mcp', (_, response, next) => {
    response.on('finish', () => statuses.push(response.statusCode));
    next();
  });
  const latchkey = new Latchkey({ baseUrl: latchkeyUrl, applicationSecret: null });
  const at = { resource: url, authorizationServer: latchkeyUrl };
  app.use(createMcp(latchkey, at, () => [NOTE]));
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
