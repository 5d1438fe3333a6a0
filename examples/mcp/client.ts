/**
 * An MCP client with version 2 of the official SDK. The MCP server refuses its first call with 401. Its
 * metadata names Latchkey, where the client registers itself and the user allows it to act for them. Then it
 * calls a tool with the grant.
 *
 * It reads SERVER_URL, the address of the MCP server. Latchkey needs CLIENT_REGISTRATION=on.
 * examples/README.md has the commands.
 */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';

const { SERVER_URL = 'http://127.0.0.1:4002/mcp' } = process.env;
const print = (line: string) => process.stdout.write(`${line}\n`);

// Where the browser brings the answer. A redirect URI on a loopback address matches on any port.
const listener = createServer((_, response) => response.end('Go back to the terminal.'));
await once(listener.listen(0, '127.0.0.1'), 'listening');
const origin = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;

// A client that runs for longer stores the grant where only its user can read it.
const kept: {
  client?: StoredOAuthClientInformation;
  verifier: string;
  tokens?: StoredOAuthTokens;
  discovery?: OAuthDiscoveryState;
} = { verifier: '' };
const state = randomUUID();
const authProvider: OAuthClientProvider = {
  redirectUrl: `${origin}/callback`,
  clientMetadata: { client_name: 'Notes client', redirect_uris: [`${origin}/callback`] },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void Object.assign(kept, { client }),
  state: () => state,
  redirectToAuthorization: ({ href }) => void print(`Open ${href}`),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => void Object.assign(kept, { verifier }),
  discoveryState: () => kept.discovery,
  saveDiscoveryState: (discovery) => void Object.assign(kept, { discovery }),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void Object.assign(kept, { tokens }),
};
const newTransport = () => new StreamableHTTPClientTransport(new URL(SERVER_URL), { authProvider });

const client = new Client(
  { name: 'notes-client', version: '1.0.0' },
  { versionNegotiation: { mode: 'auto' } },
);
const transport = newTransport();
try {
  await client.connect(transport);
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
  const [{ url = '' }] = (await once(listener, 'request')) as [IncomingMessage];
  const { searchParams: answer } = new URL(url, origin);
  if (answer.get('state') !== state) throw new Error('The answer is for another request.');
  if (answer.has('error')) throw new Error(answer.get('error_description') ?? 'Not allowed.');
  await transport.finishAuth(answer);
  await client.connect(newTransport());
}
const { content } = await client.callTool({ name: 'list_notes' });
for (const part of content) if (part.type === 'text') print(part.text);
await client.close();
listener.close();
