import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Latchkey } from '@latchkey/client';
import { expressEvents } from '@latchkey/client/events';
import { createTestServer } from '@latchkey/testing';
import express from 'express';
import { expect, onTestFinished, test } from 'vitest';

test('the application hears of the end of a grant, and is not confused by a repeat', async () => {
  await using server = await createTestServer();
  const receiver = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void receiver.close().closeAllConnections());
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/latchkey-events`;
  const { secret } = await server.events.createEndpoint(url);

  const ended: string[] = [];
  const app = express();
  const on = { 'grant.revoked': ({ grant_id }: { grant_id: string }) => ended.push(grant_id) };
  app.post('/latchkey-events', expressEvents({ secret, on }));
  receiver.on('request', app);

  const { code } = await server.issueCode();
  const { grant_id } = await new Latchkey(server).convert(code);
  server.events.hold();
  await server.revoke(grant_id);
  expect(ended).toEqual([]);
  await server.events.deliver();
  expect(ended).toEqual([grant_id]);
  await server.events.duplicate();
  expect(ended).toEqual([grant_id, grant_id]);
});
