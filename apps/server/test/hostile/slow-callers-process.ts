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
  for (let i = 0; i < calls.count; i++) {
    const socket = connect({ host, port: Number(port), localAddress: from });
    let timer: NodeJS.Timeout | undefined;
    socket.on('connect', () => {
      socket.write(calls.first);
      if (calls.more !== undefined)
        timer = setInterval(() => socket.write(calls.more ?? ''), calls.every);
    });
    if (calls.reads) socket.resume();
    // Which of the two sides is faster to notice decides what is seen of a connection's end.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      closed++;
      clearInterval(timer);
    });
    // Not all at once: the queue of connections that the server has not taken yet is short.
    if (i % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
