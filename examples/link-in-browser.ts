/**
 * A command-line program that links an account in the browser of its user, without a library.
 *
 *     LATCHKEY_URL=http://127.0.0.1:3000 CLIENT_ID=… node examples/link-in-browser.ts
 *
 * LATCHKEY_URL is the PUBLIC_URL of Latchkey, CLIENT_ID a public application with the redirect URI
 * `http://127.0.0.1/callback`.
 */

import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const { LATCHKEY_URL: latchkey = 'http://127.0.0.1:3000', CLIENT_ID: client_id = '' } = process.env;
const state = randomBytes(32).toString('base64url');
const code_verifier = randomBytes(32).toString('base64url');

const server = createServer().listen(0, '127.0.0.1');
await once(server, 'listening');
const redirect_uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
const request = new URLSearchParams({
  response_type: 'code',
  client_id,
  redirect_uri,
  scope: 'profile.read',
  state,
  code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
  code_challenge_method: 'S256',
});
process.stdout.write(`Open ${latchkey}/oauth/authorize?${request}\n`);

const returned = await new Promise<URLSearchParams>((resolve) => {
  server.on('request', ({ url = '/' }, response) => {
    const { pathname, searchParams } = new URL(url, redirect_uri);
    const isOurs = searchParams.get('state') === state && searchParams.get('iss') === latchkey;
    if (pathname !== '/callback' || !isOurs) return void response.writeHead(404).end();
    response.setHeader('Connection', 'close').end('You can close this page.');
    resolve(searchParams);
  });
});
server.close();
const code = returned.get('code');
if (code === null) throw new Error(returned.get('error_description') ?? 'Not linked');

const body = { grant_type: 'authorization_code', code, redirect_uri, client_id, code_verifier };
const response = await fetch(`${latchkey}/oauth/token`, {
  method: 'POST',
  body: new URLSearchParams(body),
});
if (!response.ok) throw new Error(await response.text());
// Keep access_token in the keychain of the system.
const { grant } = (await response.json()) as { grant: { account: { username: string } } };
process.stdout.write(`Linked ${grant.account.username}\n`);
