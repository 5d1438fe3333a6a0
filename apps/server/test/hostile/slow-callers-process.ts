// The process of SlowCallers. Run by plain node.

import { connect } from 'node:net';
import type { FromCallers, SlowCalls, ToCallers } from './slow-callers.ts';

const send = (message: FromCallers) => process.send?.(message);

process.once('message', (message: Exclude<ToCallers, 'go'>) => {
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
    // Which of the two sides is faster to notice decides what is seen of a connection's end.
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
  // Not all at once: what the server has not taken yet waits in a queue of some hundred, and what
  // finds it full tries again only seconds later.
  let left = calls.count;
  const opener = async () => {
    while (left-- > 0) await open();
  };
  await Promise.all(Array.from({ length: 50 }, opener));
}
