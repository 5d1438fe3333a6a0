/**
 * Runs the application and the host against a Latchkey that has the linking flow on:
 *
 *     export ADMIN_SECRET="$(openssl rand -hex 32)"
 *     export PUBLIC_URL=http://127.0.0.1:3000 SIGN_IN_URL=http://127.0.0.1:4001/link
 *     npm start &
 *     npm exec -c 'node examples/express/start.ts'
 *
 * Reads LATCHKEY_URL and ADMIN_SECRET from the environment, and the ports in APP_PORT and HOST_PORT.
 * HOST_URL is where browsers reach the host, if that is not its port on 127.0.0.1. Creates an
 * application and two scopes at Latchkey, as your setup would do once.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Latchkey } from '@latchkey/client';
import { LatchkeyAdmin } from '@latchkey/client/admin';
import { createApp } from './app.ts';
import { createHost } from './host.ts';

const { LATCHKEY_URL, ADMIN_SECRET, APP_PORT = '4000', HOST_PORT = '4001', HOST_URL } = process.env;
const baseUrl = LATCHKEY_URL || 'http://127.0.0.1:3000';
const users = [
  {
    account_id: '0193aa00-0000-7000-8000-0000000000a1',
    username: 'ada',
    display_name: 'Ada Lovelace',
  },
  {
    account_id: '0193aa00-0000-7000-8000-0000000000a2',
    username: 'grace',
    display_name: 'Grace Hopper',
  },
];

async function listen(server: Server, port: string): Promise<string> {
  await new Promise<void>((resolve) => server.listen(Number(port), '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const [appServer, hostServer] = [createServer(), createServer()];
const appUrl = await listen(appServer, APP_PORT);
const hostUrl = await listen(hostServer, HOST_PORT);
const redirectUri = `${appUrl}/callback`;

const admin = new LatchkeyAdmin({ baseUrl, adminSecret: ADMIN_SECRET });
await admin.scopes.put({
  scope: 'profile.read',
  title: 'Read your profile',
  description: 'Your name and your username.',
});
await admin.scopes.put({ scope: 'posts.read', title: 'Read your posts' });
const { secret } = await admin.applications.create({ name: 'Acme', redirect_uris: [redirectUri] });

// All that the host can do with it is to link its users. Each start makes one, for a day: there can be 50.
const expires_at = new Date(Date.now() + 86_400_000).toISOString();
const key = await admin.keys.create({ name: 'Sign-in page', role: 'host', expires_at });
const hostAdmin = new LatchkeyAdmin({ baseUrl, adminSecret: key.secret });

const latchkey = new Latchkey({ baseUrl, applicationSecret: secret });
appServer.on('request', createApp({ latchkey, redirectUri }));
hostServer.on('request', createHost({ admin: hostAdmin, url: HOST_URL ?? hostUrl, users }));
process.stdout.write(`The application: ${appUrl}\nThe host: ${hostUrl}\n`);
