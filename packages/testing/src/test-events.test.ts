import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Latchkey } from '@latchkey/client';
import { LatchkeyAdmin } from '@latchkey/client/admin';
import { type LatchkeyEvent, verifyEvent } from '@latchkey/client/events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestServer, type EndpointOptions, type TestServer } from './index.ts';

const HOUR = 3_600_000;

let server: TestServer;
let latchkey: Latchkey;
const receivers: Server[] = [];
beforeEach(async () => {
  server = await createTestServer();
  latchkey = new Latchkey(server);
});
afterEach(async () => {
  await server.close();
  for (const receiver of receivers.splice(0)) receiver.close().closeAllConnections();
});

interface Heard {
  id: string;
  body: string;
  event: LatchkeyEvent;
}

/** An address of the test that verifies what it is told. */
async function endpoint(options?: EndpointOptions) {
  const heard: Heard[] = [];
  const it = {
    heard,
    types: () => heard.map(({ event }) => event.type),
    answer: (response: ServerResponse) => void response.writeHead(204).end(),
    id: '',
  };
  const receiver = createServer().listen(0, '127.0.0.1');
  receivers.push(receiver);
  await once(receiver, 'listening');
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`;
  const { id, secret } = await server.events.createEndpoint(url, options);
  it.id = id;
  receiver.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const event = await verifyEvent(body, request.headers, secret);
    heard.push({ id: String(request.headers['webhook-id']), body, event });
    it.answer(response);
  });
  return it;
}

async function link(): Promise<string> {
  const { code } = await server.issueCode();
  return (await latchkey.convert(code)).grant_id;
}

describe('the messages of a test server', () => {
  test('come at once, to the application and the host', async () => {
    const [own, host] = [await endpoint(), await endpoint({ host: true })];
    const chosen = await endpoint({ host: true, types: ['grant.created'] });
    await server.revoke(await link());
    await server.putAccount({ username: 'ada', display_name: 'Ada King' });
    await server.events.deliver();
    expect(own.types()).toEqual(['grant.revoked']);
    expect(own.heard[0]?.event.data).toMatchObject({ revoked: true, reason: 'host' });
    expect(host.types().sort()).toEqual(['account.updated', 'grant.created', 'grant.revoked']);
    expect(chosen.types()).toEqual(['grant.created']);
  });

  test('come without being asked for', async () => {
    const own = await endpoint();
    const grantId = await link();
    await server.revoke(grantId);
    await expect.poll(own.types, { interval: 1, timeout: 30_000 }).toEqual(['grant.revoked']);
  });

  test('have the real time, wherever the clock is', async () => {
    const own = await endpoint();
    server.advance(HOUR);
    await server.revoke(await link());
    await server.events.deliver();
    const [message] = own.heard;
    expect(Date.parse(message?.event.timestamp ?? '')).toBe(server.now());
  });

  test('wait while they are held', async () => {
    const own = await endpoint();
    server.events.hold();
    await server.revoke(await link());
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(own.heard).toEqual([]);
    await server.events.deliver();
    expect(own.types()).toEqual(['grant.revoked']);
    await server.revoke(await link());
    await expect.poll(own.types).toHaveLength(2);
  });

  test('come once more, to each of their endpoints, with the same id and body', async () => {
    const both = [await endpoint(), await endpoint({ host: true, types: ['grant.revoked'] })];
    await expect(server.events.duplicate()).rejects.toThrow('No message was sent yet.');
    await server.revoke(await link());
    await server.events.deliver();
    await server.events.duplicate();
    for (const { heard } of both) {
      expect(heard).toHaveLength(2);
      expect(heard[1]).toEqual(heard[0]);
    }
  });

  test('are lost, and sent again when the operator asks for it', async () => {
    const own = await endpoint();
    const lost = await link();
    server.events.hold();
    await server.revoke(lost);
    await server.events.drop();
    const kept = await link();
    await server.revoke(kept);
    await server.events.deliver();
    const grants = () =>
      own.heard.map(({ event }) => event.type === 'grant.revoked' && event.data.grant_id);
    expect(grants()).toEqual([kept]);
    const { baseUrl, adminSecret } = server;
    const admin = new LatchkeyAdmin({ baseUrl, adminSecret });
    const since = new Date(server.now()).toISOString();
    await admin.endpoints.replay({ endpoint_id: own.id, since });
    await server.events.deliver();
    expect(grants()).toEqual([kept, lost]);
  });

  test('come again by the clock if the receiver failed', async () => {
    const own = await endpoint();
    const { answer } = own;
    own.answer = (response) => void response.writeHead(500).end();
    await server.revoke(await link());
    await server.events.deliver();
    expect(own.heard).toHaveLength(1);
    own.answer = answer;
    server.advance(5_500);
    await server.events.deliver();
    expect(own.heard).toHaveLength(2);
  });

  test('do not keep a test that is over', async () => {
    const own = await endpoint();
    own.answer = () => {};
    await server.revoke(await link());
    const delivered = server.events.deliver();
    await expect.poll(own.types).toHaveLength(1);
    await server.close();
    await delivered;
    await expect(server.events.deliver()).rejects.toThrow('This test server is closed.');
  });
});
