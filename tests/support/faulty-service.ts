import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ErrorCode, errorDefinition, errorWord, parseCredential } from '@latchkey/schema';

/** What happens to a request. */
export type Fault =
  /** It gets this error and does not reach the service. */
  | { refuse: ErrorCode }
  /** The service carries it out, and the response is this error. */
  | { loseBehind: ErrorCode }
  /** The service carries it out, and the connection breaks. */
  | 'lose'
  /** The service carries it out, and the response is the page of a proxy. */
  | 'page';

export interface FaultyService {
  url: string;
  /** The paths that were called, and when, in milliseconds. */
  calls: { path: string; at: number }[];
  close(): Promise<void>;
}

/**
 * A proxy that causes the faults of networks, databases and limits, which the service itself can't
 * produce on demand.
 *
 * @param faults - by path, the faults of the first request, the second, …; others have none
 */
export async function startFaultyService(
  url: string,
  faults: Record<string, Fault[]>,
): Promise<FaultyService> {
  const left = new Map(Object.entries(faults).map(([path, list]) => [path, [...list]]));
  const calls: FaultyService['calls'] = [];
  const server = createServer(async (request, response) => {
    const path = String(request.url);
    calls.push({ path, at: Date.now() });
    const fault = left.get(path)?.shift();
    const body = await textOf(request);
    if (typeof fault === 'object' && 'refuse' in fault)
      return refuse(response, path, fault.refuse, body);

    const { authorization = '', 'content-type': type } = request.headers;
    const forwarded = await fetch(url + path, {
      method: request.method ?? 'GET',
      headers: { authorization, ...(type !== undefined && { 'content-type': type }) },
      body: request.method === 'GET' ? null : body,
    });
    const text = await forwarded.text();
    if (fault === 'lose') return void request.socket.destroy();
    if (fault === 'page') return void response.writeHead(503).end('<h1>503 Unavailable</h1>');
    if (fault) return refuse(response, path, fault.loseBehind, body);
    response.writeHead(forwarded.status, { 'Content-Type': 'application/json; charset=UTF-8' });
    response.end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

/** Sends an error as the service does, over either wire. Takes `grant_id` from the code in the request. */
function refuse(response: ServerResponse, path: string, error_code: ErrorCode, sent: string): void {
  const { status, description, members, retryAfter } = errorDefinition(error_code);
  const code = members?.includes('grant_id') && (JSON.parse(sent) as { code: string }).code;
  const body = {
    error: errorWord(error_code, 'application'),
    error_description: description,
    error_code,
    error_uri: `https://latchkey.example/docs/errors#${error_code}`,
    request_id: '0193aa00-0000-7000-8000-0000000000ff',
    ...(code && { grant_id: parseCredential('code', code) }),
  };
  const onTrpc = { error: { message: description, code: -32600, data: body } };
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=UTF-8',
    ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
  });
  response.end(JSON.stringify(path.startsWith('/trpc/') ? onTrpc : body));
}
