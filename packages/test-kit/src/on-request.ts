import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that starts only if a test asks for it. */
export interface OnRequest {
  /** Starts it at the first request, and responds with its URL. */
  url: string;
  stop(): Promise<void>;
}

interface Started {
  url: string;
  stop(): Promise<void>;
}

export async function startOnRequest(start: () => Promise<Started>): Promise<OnRequest> {
  let started: Promise<Started> | undefined;
  const server = createServer((_, response) => {
    started ??= start();
    started.then(
      ({ url }) => response.end(url),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await started?.then(
        (one) => one.stop(),
        () => undefined,
      );
    },
  };
}

/** @param request - the URL of an {@link OnRequest} */
export async function urlFrom(request: string): Promise<string> {
  const response = await fetch(request);
  const text = await response.text();
  if (!response.ok) throw new Error(`The servers of the tests did not start: ${text}`);
  return text;
}
