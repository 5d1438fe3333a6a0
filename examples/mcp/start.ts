/**
 * Runs an MCP server, and the host that has its users, against a Latchkey that lets clients in.
 * examples/README.md has the commands.
 *
 * Reads LATCHKEY_URL and ADMIN_SECRET from the environment, and the addresses to listen on: HOST_URL and
 * MCP_URL. Describes the scope and registers the resource at Latchkey, as your setup would do once.
 */

import { Latchkey } from '@latchkey/client';
import { LatchkeyAdmin } from '@latchkey/client/admin';
import type { Express } from 'express';
import { createHost } from '../express/host.ts';
import { createMcp } from './server.ts';

const {
  LATCHKEY_URL: baseUrl = 'http://127.0.0.1:3000',
  ADMIN_SECRET: adminSecret,
  HOST_URL: hostUrl = 'http://127.0.0.1:4001',
  MCP_URL: mcpUrl = 'http://127.0.0.1:4002',
} = process.env;
const ada = {
  account_id: '0193aa00-0000-7000-8000-0000000000a1',
  username: 'ada',
  display_name: 'Ada Lovelace',
};
const resource = `${mcpUrl}/mcp`;

const admin = new LatchkeyAdmin({ baseUrl, adminSecret });
await admin.scopes.put({
  scope: 'notes.read',
  title: 'Read your notes',
  description: 'All of them.',
});
const { data } = await admin.resources.list();
if (!data.some((registered) => registered.resource === resource)) {
  await admin.resources.create({ resource, name: 'Notes', scopes: ['notes.read'] });
}

// The MCP server only reads grants, so it needs no application secret.
const latchkey = new Latchkey({ baseUrl, applicationSecret: null });
const notesOf = (id: string) => (id === ada.account_id ? ['Sketch of the engine'] : []);
const mcp = createMcp(latchkey, { resource, authorizationServer: baseUrl }, notesOf);

// All that the host can do with it is to link its users. Each start makes one, for a day: there can be 50.
const expires_at = new Date(Date.now() + 86_400_000).toISOString();
const key = await admin.keys.create({ name: 'Sign-in page', role: 'host', expires_at });
const hostAdmin = new LatchkeyAdmin({ baseUrl, adminSecret: key.secret });

const listen = (app: Express, url: string) =>
  new Promise((resolve) => app.listen(Number(new URL(url).port), '127.0.0.1', resolve));
await listen(createHost({ admin: hostAdmin, url: hostUrl, users: [ada] }), hostUrl);
await listen(mcp, mcpUrl);
process.stdout.write(`The MCP server: ${resource}\nThe host: ${hostUrl}\n`);
