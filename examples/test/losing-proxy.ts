import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network that loses what it is told to, between a client and a service. */
export interface LosingProxy {
  readonly url: string;
  /**
   * What gets lost next, once: a request, whose connection breaks before any of it is delivered; or
   * an answer that the service has given, whose connection breaks (`cut`) or stays silent (`hold`).
   */
  loseNext: 'request' | { answer: 'cut' | 'hold' } | undefined;
  close(): Promise<void>;
}

/** Starts a proxy on a free port that passes everything on to the service at this address. */
export async function startLosingProxy(target: string): Promise<LosingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();

  const server = createServer((client) => {
    const service = connect(Number(port), hostname);
    const end = () => {
      client.destroy();
      service.destroy();
    };
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.on('error', end).on('close', () => {
        sockets.delete(socket);
        end();
      });
    }

    client.on('data', (request) => {
      if (proxy.loseNext === 'request') {
        proxy.loseNext = undefined;
        return end();
      }
      service.write(request);
    });
    let silent = false;
    service.on('data', (answer) => {
      if (typeof proxy.loseNext === 'object') {
        if (proxy.loseNext.answer === 'cut') end();
        silent = true;
        proxy.loseNext = undefined;
      }
      if (!silent) client.write(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const proxy: LosingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseNext: undefined,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
  return proxy;
}
