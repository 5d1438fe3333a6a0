import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ClientGone } from '../operations/call.ts';
import type { RequestContext } from './request-context.ts';
import { sendPieces } from './response.ts';

test('what a client does not read in time is not sent on', async () => {
  const sent = Promise.withResolvers<unknown>();
  const server = createServer((request, response) => {
    const part = { request, response, requestId: 'a', isClosing: () => false, responseTimeout: 50 };
    async function* pieces() {
      for (;;) yield 'a piece'.repeat(10_000);
    }
    sendPieces(part as RequestContext, pieces()).catch(sent.resolve);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void client.destroy());
  client.pause();
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await sent.promise).toBeInstanceOf(ClientGone);
});
