// Floods a service from many connections until its parent exits. Run by plain node.

import { connect } from 'node:net';

/** The message of the parent. */
export interface Flood {
  url: string;
  /** The bytes of the requests. Each connection sends them repeatedly. */
  requests: string;
  connections: number;
  /** Whether the connections read the responses. */
  reads: boolean;
}

process.once('message', ({ url, requests, connections, reads }: Flood) => {
  const { hostname: host, port } = new URL(url);
  const bytes = Buffer.from(requests);
  let sent = 0;
  function open(): void {
    const socket = connect({ host, port: Number(port) });
    const write = () => {
      // As fast as the service accepts it, but not in one tick: this process has 50 connections.
      const more = socket.write(bytes);
      sent += bytes.length;
      if (more) setImmediate(() => !socket.destroyed && write());
    };
    if (reads) socket.resume();
    socket.on('connect', write).on('drain', write);
    // The service may refuse or close any connection: the next one follows.
    socket.on('error', () => undefined).on('close', () => setTimeout(open, 5));
  }
  for (let i = 0; i < connections; i++) open();
  setInterval(() => process.send?.(sent), 200);
});
process.on('disconnect', () => process.exit());
