// The process of SlowClients. Run by plain node.

import { connect } from 'node:net';
import type { FromClients, SlowCalls, ToClients } from './slow-clients.ts';

const send = (message: FromClients) => process.send?.(message);

process.once('message', (message: Exclude<ToClients, 'go'>) => {
  process.once('message', () => call(message.url, message.from, message.calls));
  send('ready');
});
process.on('disconnect', () => process.exit());

async function call(url: string, from: string, calls: SlowCalls): Promise<void> {
  const { hostname: host, port } = new URL(url);
  let closed = 0;
  setInterval(() => send({ closed }), 100);
  async function open(): Promise<void> {
    const socket = connect({ host, port: Number(port), localAddress: from });
    let timer: NodeJS.Timeout | undefined;
    if (calls.reads) socket.resume();
    // A closed connection is an error or not, depending on which side notices first.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      closed++;
      clearInterval(timer);
    });
    await new Promise<void>((resolve) => {
      socket.once('close', resolve);
      socket.once('connect', resolve);
    });
    if (socket.destroyed) return;
    socket.write(calls.first);
    const { more } = calls;
    if (more !== undefined) timer = setInterval(() => socket.write(more), calls.every);
  }
  // Not all at once: the server's queue holds a few hundred connections. A connection that finds it
  // full retries only seconds later.
  let left = calls.count;
  const opener = async () => {
    while (left-- > 0) await open();
  };
  await Promise.all(Array.from({ length: 50 }, opener));
}
