import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A network between a client and a service that loses what a test tells it to. */
export interface LosingProxy {
  readonly url: string;
  /**
   * What is lost next, once: a request, whose connection breaks before any of it is delivered, or
   * the response of the service, whose connection breaks (`cut`) or stays silent (`hold`).
   */
  loseNext: 'request' | { answer: 'cut' | 'hold' } | undefined;
  close(): Promise<void>;
}

/** Starts a proxy on a free port that forwards everything to the service at this address. */
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
    service.on('data', (response) => {
      if (typeof proxy.loseNext === 'object') {
        if (proxy.loseNext.answer === 'cut') end();
        silent = true;
        proxy.loseNext = undefined;
      }
      if (!silent) client.write(response);
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
