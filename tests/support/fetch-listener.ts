import type { RequestListener } from 'node:http';

/** Serves a `fetch` handler with Node, which has no server for one. */
export function listenerOf(
  handle: (request: Request) => Response | Promise<Response>,
): RequestListener {
  return async (incoming, outgoing) => {
    const { method = 'GET', url, headers } = incoming;
    // As frameworks do that make up the host name.
    const request = new Request(`http://127.0.0.1${url}`, {
      method,
      headers: new Headers(headers as Record<string, string>),
      ...(method === 'POST' && { body: incoming as never, duplex: 'half' }),
    });
    const response = await handle(request);
    for (const cookie of response.headers.getSetCookie()) {
      outgoing.appendHeader('Set-Cookie', cookie);
    }
    const others = [...response.headers].filter(([name]) => name !== 'set-cookie');
    outgoing.writeHead(response.status, Object.fromEntries(others));
    outgoing.end(await response.text());
  };
}
