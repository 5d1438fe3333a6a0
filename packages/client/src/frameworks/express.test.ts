import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { applicationSecret } from '../../test/samples.ts';
import { headersOf, newSecret } from '../../test/sign-message.ts';
import { LatchkeyAdmin } from '../admin/index.ts';
import { expressEvents } from '../events/index.ts';
import { expressHost } from '../host/index.ts';
import { Latchkey } from '../index.ts';
import { expressLinking } from '../linking/index.ts';

// The routes for Express with Node's own server, which gives no `next`: a rejection would end its process.

const secret = newSecret();
const handle = vi.fn();
const receive = expressEvents({ secret, on: { ping: handle } });
const body = JSON.stringify({ type: 'ping', timestamp: '', data: {} });
const headers = headersOf(body, [secret]);

let print: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  handle.mockReset();
  print = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

type Listener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Starts a server. The promise of each request is in `handled`. */
async function serve(listener: Listener) {
  const handled: Promise<void>[] = [];
  const server = createServer((request, response) => {
    handled.push(listener(request, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { handled, port, url: `http://127.0.0.1:${port}/` };
}

/** Sends a part of a message, and closes the connection once the server has begun to handle it. */
async function dropConnection(port: number, handled: readonly unknown[]) {
  const socket = connect(port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: acme.example\r\nContent-Length: 100\r\n\r\n{"type":');
  await vi.waitFor(() => expect(handled).toHaveLength(1));
  socket.destroy();
}

it('receives a message', async () => {
  const { url } = await serve(receive);
  const response = await fetch(url, { method: 'POST', headers, body });
  expect(response.status).toBe(204);
  expect(handle).toHaveBeenCalledOnce();
});

it.each<[string, Listener]>([
  ['while the body is read', receive],
  [
    'before the body is read',
    async (request, response) => {
      await new Promise((resolve) => request.once('close', resolve));
      await receive(request, response);
    },
  ],
])('survives a connection that breaks %s', async (_, listener) => {
  const { handled, port } = await serve(listener);
  await dropConnection(port, handled);
  expect(await Promise.all(handled)).toEqual([undefined]);
  expect(print.mock.calls).toEqual([[expect.any(Error)]]);
  expect(handle).not.toHaveBeenCalled();
});

it('takes the bytes that a platform keeps in rawBody, and no others', async () => {
  const { url } = await serve(async (request, response) => {
    const rawBody = await buffer(request);
    await receive(Object.assign(request, { rawBody, body: JSON.parse(`${rawBody}`) }), response);
  });
  const send = async (sent: string) =>
    (await fetch(url, { method: 'POST', headers, body: sent })).status;
  expect(await send(body)).toBe(204);
  expect(await send(`${body} `)).toBe(400);
  expect(await send(`"${'x'.repeat(65_536)}"`)).toBe(413);
  expect(handle).toHaveBeenCalledOnce();
});

const admin = new LatchkeyAdmin({
  baseUrl: 'http://127.0.0.1:1',
  adminSecret: 'operator-'.repeat(4),
  maxRetries: 0,
});
const latchkey = new Latchkey({ baseUrl: 'http://127.0.0.1:1', applicationSecret, maxRetries: 0 });
const linking = expressLinking({
  latchkey,
  redirectUri: 'https://acme.example/callback',
  scope: 'profile.read',
  onLinked() {},
});
const host = expressHost({
  admin,
  signInUrl: 'https://photos.example/link',
  accountOf: () => ({ account_id: '0193aa00-0000-7000-8000-000000000001', username: 'ada' }),
  signInPage: () => '/sign-in',
});

it.each<[string, Listener, string]>([
  [
    'a body that was read already',
    async (request, response) => {
      await buffer(request);
      await receive(request, response);
    },
    'Another parser has read the body',
  ],
  ['a callback that belongs to no link', linking.callback, ''],
  ['a service that is not reachable', host.handOff, ''],
])('responds with 500 to %s, and prints the error', async (_, listener, message) => {
  const { url, handled } = await serve(listener);
  const response = await fetch(`${url}?link=lk_link_1&code=1&state=1`, {
    method: 'POST',
    headers,
    body,
  });
  expect([response.status, await response.text()]).toEqual([500, '']);
  expect(await Promise.all(handled)).toEqual([undefined]);
  const error = expect.objectContaining({ message: expect.stringContaining(message) });
  expect(print.mock.calls).toEqual([[error]]);
});
