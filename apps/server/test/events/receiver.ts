import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

export interface HeardMessage {
  id: string;
  headers: IncomingHttpHeaders;
  /** As it was sent. */
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests check what is sent, member by member
  body: any;
}

export interface Receiver {
  url: string;
  heard: HeardMessage[];
  /** The most requests that it had at once. */
  most: number;
  /** Answers the next requests. Default: 204. */
  answer: (response: ServerResponse, message: HeardMessage) => void;
  close(): Promise<void>;
}

/** An address of an application or a host, in this process. */
export async function startReceiver(): Promise<Receiver> {
  const ok: Receiver['answer'] = (response) => void response.writeHead(204).end();
  let running = 0;
  const server = createServer(async (request, response) => {
    running++;
    receiver.most = Math.max(receiver.most, running);
    response.once('close', () => running--);
    const sent = await text(request);
    const id = String(request.headers['webhook-id']);
    const message = { id, headers: request.headers, text: sent, body: JSON.parse(sent) };
    receiver.heard.push(message);
    receiver.answer(response, message);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    heard: [],
    most: 0,
    answer: ok,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

/** As the library of the standard, unmodified, signs it. The clock of a test may be elsewhere. */
export function isSignedBy(secret: string, { id, headers, text }: HeardMessage): boolean {
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
  const signature = new Webhook(secret).sign(id, at, text);
  return String(headers['webhook-signature']).split(' ').includes(signature);
}
