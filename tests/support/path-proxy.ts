import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that passes some requests on, and has a page of its own for the others. */
export interface PathProxy {
  readonly url: string;
  /** The requests that it has passed on, each as `GET /path`, each once. */
  readonly passed: Set<string>;
  close(): Promise<void>;
}

/**
 * Starts a proxy on a free port.
 *
 * @param target - the service
 * @param pass - the path to pass a request on with; undefined if it is not to be passed on
 */
export async function startPathProxy(
  target: string,
  pass: (method: string, path: string) => string | undefined,
): Promise<PathProxy> {
  const passed = new Set<string>();
  const server = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    const path = pass(method, url);
    if (path === undefined) {
      incoming.resume();
      response.writeHead(404, { 'content-type': 'text/html' }).end('<html>Not found</html>');
      return;
    }
    passed.add(`${method} ${path}`);
    const outgoing = request(new URL(path, target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
