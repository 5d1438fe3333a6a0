import type { Latchkey } from '@latchkey/client';
import { latchkeyVerifier } from '@latchkey/client/guards';
import * as v2 from '@modelcontextprotocol/client';
import { requireBearerAuth as requireBearerAuth2 } from '@modelcontextprotocol/express';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  createMcpHandler,
  fromJsonSchema,
  McpServer as McpServer2,
  OAuthError,
} from '@modelcontextprotocol/server';
import type { RequestHandler } from 'express';
import type { Link } from './link.ts';

/** What a guarded server of an SDK needs. */
interface Guarded {
  latchkey: Latchkey;
  resource: string;
  requiredScopes: string[];
  resourceMetadataUrl: string;
}

/** A connection of a client, whose calls fail with `Unauthorized` once it has to ask its user again. */
interface Connection {
  protocolVersion: string | undefined;
  listTools(): Promise<unknown>;
  callTool(request: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

/** The official SDK of the Model Context Protocol in TypeScript, as published. */
export interface Sdk {
  /** What a call rejects with if the client needs a grant. */
  readonly Unauthorized: abstract new (
    ...args: never[]
  ) => Error;
  /** Its `requireBearerAuth` with our verifier. */
  bearerAuth(options: Guarded): RequestHandler;
  /** A server behind {@link bearerAuth}, with the tool `whoami`. */
  readonly server: RequestHandler;
  /** Connects a client, which asks `link` for its grant. */
  connect(url: string, link: Link, fetch?: typeof globalThis.fetch): Promise<Connection>;
  /** Redeems the code of a callback. */
  finish(url: string, link: Link, callback: string, fetch?: typeof globalThis.fetch): Promise<void>;
}

interface Verified {
  extra?: { account?: { username: string } };
}
const whoami = (auth: Verified | undefined) => ({
  content: [{ type: 'text' as const, text: auth?.extra?.account?.username ?? 'nobody' }],
});
const about = { name: 'tests', version: '1.0.0' };

function transportOf<Transport>(
  Transport: new (
    url: URL,
    options: { authProvider: Link; fetch?: typeof globalThis.fetch },
  ) => Transport,
  ...[url, authProvider, fetch]: Parameters<Sdk['connect']>
): Transport {
  return new Transport(new URL(url), { authProvider, ...(fetch && { fetch }) });
}

const connectionOf = (
  client: Omit<Connection, 'protocolVersion'>,
  { protocolVersion }: Pick<Connection, 'protocolVersion'>,
): Connection => ({
  protocolVersion,
  listTools: () => client.listTools(),
  callTool: (request) => client.callTool(request),
  close: () => client.close(),
});

const version1: Sdk = {
  Unauthorized: UnauthorizedError,
  bearerAuth: ({ latchkey, resource, ...options }) =>
    requireBearerAuth({
      verifier: latchkeyVerifier({ latchkey, resource, InvalidTokenError }),
      ...options,
    }),
  async server(request, response) {
    const server = new McpServer(about);
    server.registerTool('whoami', {}, ({ authInfo }) => whoami(authInfo));
    const transport = new StreamableHTTPServerTransport();
    response.on('close', () => server.close());
    await server.connect(transport);
    await transport.handleRequest(request, response, request.body);
  },
  async connect(...to) {
    const transport = transportOf(StreamableHTTPClientTransport, ...to);
    const client = new Client(about);
    await client.connect(transport);
    return connectionOf(client, transport);
  },
  finish: (url, link, callback, fetch) =>
    transportOf(StreamableHTTPClientTransport, url, link, fetch).finishAuth(
      new URL(callback).searchParams.get('code') ?? '',
    ),
};

const handler = createMcpHandler(({ authInfo }) => {
  const server = new McpServer2(about);
  // A client of 2026-07-28 repeats this argument in a header.
  const place = { type: 'string', 'x-mcp-header': 'Place' } as const;
  const inputSchema = fromJsonSchema({ type: 'object', properties: { place } });
  server.registerTool('whoami', { inputSchema }, () => whoami(authInfo));
  return server;
});
const handle = toNodeHandler(handler);

/** @param mode - `legacy` is its default, and `auto` prefers 2026-07-28 */
const version2 = (mode: 'legacy' | 'auto'): Sdk => ({
  Unauthorized: v2.UnauthorizedError,
  bearerAuth: ({ latchkey, resource, ...options }) =>
    requireBearerAuth2({
      verifier: latchkeyVerifier({ latchkey, resource, OAuthError }),
      ...options,
    }),
  server: (request, response) => handle(request, response, request.body),
  async connect(...to) {
    const transport = transportOf(v2.StreamableHTTPClientTransport, ...to);
    const client = new v2.Client(about, { versionNegotiation: { mode } });
    await client.connect(transport);
    return connectionOf(client, transport);
  },
  finish: (url, link, callback, fetch) =>
    transportOf(v2.StreamableHTTPClientTransport, url, link, fetch).finishAuth(
      new URL(callback).searchParams,
    ),
});

/** By the version of the SDK, and that of the protocol which its client and server agree on. */
export const sdks: Readonly<Record<string, Sdk>> = {
  '1, with 2025-11-25': version1,
  '2, with 2025-11-25': version2('legacy'),
  '2, with 2026-07-28': version2('auto'),
};
