import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What a request looked like, without the values of its parameters, some of which are credentials. */
interface Seen {
  path: string;
  /** The first word of the Authorization header. */
  scheme: string | undefined;
  /** The names of the parameters in the query and in the form. */
  parameters: string[];
}

/** A request on its way to Latchkey. */
export interface Passing {
  method: string;
  /** Without the path of PUBLIC_URL. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** The members of the form. */
  form: URLSearchParams;
  /** Takes the place of the form. */
  body?: string;
}

/** A proxy that has Latchkey under a path of its own. */
export interface Gateway {
  /** Changes a request, as if its application had a wrong setting. */
  change: ((request: Passing) => void) | null;
  /** The public URL of Latchkey. */
  readonly url: string;
  /** The requests, oldest first. */
  readonly seen: Seen[];
  /** Sends requests on to a service. Before that, there is none to answer them. */
  forwardTo(target: string): void;
  close(): Promise<void>;
}

/**
 * Starts a proxy on a free port, so that PUBLIC_URL is known before the service starts.
 *
 * @param prefix - the path to have Latchkey under, such as `/latchkey`; empty for all of the host
 */
export async function startGateway(prefix: string): Promise<Gateway> {
  const seen: Seen[] = [];
  let target = '';
  const server = createServer(async (incoming, response) => {
    const body = await text(incoming);
    const { method = 'GET', url = '/', headers } = incoming;
    const { pathname, search, searchParams } = new URL(url, 'http://gateway');
    // Metadata is at the root of the host, whatever the path (RFC 8414, section 3.1).
    const path = pathname.startsWith('/.well-known/') ? pathname : stripped(pathname, prefix);
    if (path === undefined) {
      response.writeHead(404).end();
      return;
    }
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded');
    const form = new URLSearchParams(isForm ? body : '');
    seen.push({
      path,
      scheme: headers.authorization?.split(' ', 1)[0],
      parameters: [...searchParams.keys(), ...form.keys()],
    });
    const passing: Passing = { method, path, query: searchParams, headers, form };
    gateway.change?.(passing);
    const isChanged = gateway.change !== null;
    if (isChanged) delete headers['content-length'];
    const to = new URL(path + (isChanged ? `?${searchParams}` : search), target);
    const outgoing = request(to, { method: passing.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.end(passing.body ?? (isChanged && isForm ? `${form}` : body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const gateway: Gateway = {
    change: null,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    seen,
    forwardTo(url) {
      target = url;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return gateway;
}

function stripped(path: string, prefix: string): string | undefined {
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined;
}
