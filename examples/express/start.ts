/**
 * Runs the application and the identity page against a Latchkey that runs with an ADMIN_SECRET:
 *
 *     ADMIN_SECRET=… npm exec -c 'node examples/express/start.ts'
 *
 * Reads LATCHKEY_URL and ADMIN_SECRET from the environment, and the ports in APP_PORT and
 * IDENTITY_PORT. Creates an application and an account at Latchkey, as your setup would do once.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Latchkey } from '@latchkey/client';
import { createApp } from './app.ts';
import { createIdentity } from './identity.ts';

const { LATCHKEY_URL, ADMIN_SECRET = '', APP_PORT = '4000', IDENTITY_PORT = '4001' } = process.env;
const latchkeyUrl = LATCHKEY_URL || 'http://127.0.0.1:3000';
const accountId = '0193aa00-0000-7000-8000-0000000000a1';

async function admin(method: string, path: string, body: object) {
  const response = await fetch(`${latchkeyUrl}/admin${path}`, {
    method,
    headers: { Authorization: `Bearer ${ADMIN_SECRET}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as { id: string; secret: string };
}

async function listen(server: Server, port: string): Promise<string> {
  await new Promise<void>((resolve) => server.listen(Number(port), '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const application = await admin('POST', '/applications', { name: 'Acme' });
await admin('PUT', `/accounts/${accountId}`, { username: 'ada', display_name: 'Ada Lovelace' });

const [appServer, identityServer] = [createServer(), createServer()];
const appUrl = await listen(appServer, APP_PORT);
const identityUrl = await listen(identityServer, IDENTITY_PORT);
const redirectUri = `${appUrl}/callback`;

identityServer.on(
  'request',
  createIdentity({
    latchkeyUrl,
    adminSecret: ADMIN_SECRET,
    application: { id: application.id, name: 'Acme', redirectUri },
    accountId,
  }),
);
appServer.on(
  'request',
  createApp({
    latchkey: new Latchkey({ baseUrl: latchkeyUrl, applicationSecret: application.secret }),
    applicationId: application.id,
    authorizeUrl: `${identityUrl}/authorize`,
    callbackUrl: redirectUri,
  }),
);
process.stdout.write(`Open ${appUrl}\n`);
