import { lookup } from 'node:dns';
import { request } from 'node:http';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { isLoopback, isLoopbackAddress } from '../hosts.ts';

/** A response that has arrived whole. */
export interface Response {
  status: number;
  headers: Record<string, string | undefined>;
  cookies: readonly string[];
  body: string;
  /** From the request to the end of the response. */
  milliseconds: number;
}

export interface Request {
  url: URL;
  headers?: Record<string, string>;
  /** Sent as a POST. Without it, the request is a GET. */
  form?: URLSearchParams;
}

/** No response came. The message says why, and has nothing of the request but its host. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';
  readonly milliseconds: number;

  constructor(message: string, milliseconds: number) {
    super(message);
    this.milliseconds = milliseconds;
  }
}

/** More than any response of these endpoints, and more than any page of a login. */
const MOST_BYTES = 1_000_000;

/** A connection for one request. */
export interface Connection {
  /** @throws NoResponse */
  send(request: Request): Promise<Response>;
}

/**
 * Opens a connection of its own, so that nothing but the way of the request itself is left.
 *
 * @param timeout - in milliseconds, for opening it and for the whole response
 * @throws NoResponse
 */
export async function openConnection(url: URL, timeout: number): Promise<Connection> {
  const socket = await openSocket(url, timeout);
  return { send: (what) => sendOver(socket, what, timeout) };
}

/** @throws NoResponse */
export async function send(what: Request, timeout: number): Promise<Response> {
  const connection = await openConnection(what.url, timeout);
  return connection.send(what);
}

function openSocket(url: URL, timeout: number): Promise<Socket> {
  const start = performance.now();
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isTls = url.protocol === 'https:';
  const port = Number(url.port) || (isTls ? 443 : 80);
  const to = { host, port, ...(!isLoopback(url) && { lookup: lookupElsewhere }) };
  return new Promise((resolve, reject) => {
    const socket = isTls
      ? connectTls({
          ...{ ...to, ALPNProtocols: ['http/1.1'] },
          // An address is no server name (RFC 6066, 3).
          ...(isIP(host) === 0 && { servername: host }),
        })
      : connectTcp(to);
    const fail = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      reject(new NoResponse(describe(error, url), performance.now() - start));
    };
    const timer = setTimeout(() => fail(new Error(`No connection within ${timeout} ms`)), timeout);
    socket.once('error', fail);
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer);
      socket.off('error', fail);
      // Until its request is sent, an end of the connection is noticed by nobody else.
      socket.on('error', () => undefined);
      socket.setNoDelay(true);
      resolve(socket);
    });
  });
}

/** The socket connects to what this returns. Whoever has a name may lead it to this machine. */
const lookupElsewhere: LookupFunction = (name, options, callback) =>
  lookup(name, { ...options, all: true }, (error, addresses) => {
    const here = addresses?.find(({ address }) => isLoopbackAddress(address));
    const words =
      'The name leads to this machine, where only localhost, 127.0.0.1 and [::1] are called';
    if (error || here) return callback(error ?? new Error(words), []);
    const [first] = addresses;
    if (options.all || first === undefined) callback(null, addresses);
    else callback(null, first.address, first.family);
  });

function sendOver(socket: Socket, what: Request, timeout: number): Promise<Response> {
  const { url, headers = {}, form } = what;
  const body = form?.toString();
  const start = performance.now();
  return new Promise((resolve, reject) => {
    // Over the open socket, `http` sends to `https` addresses, too.
    const call = request({
      method: body === undefined ? 'GET' : 'POST',
      path: url.pathname + url.search,
      headers: {
        host: url.host,
        connection: 'close',
        'user-agent': 'oauth-race',
        ...(body !== undefined && {
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': String(Buffer.byteLength(body)),
        }),
        ...headers,
      },
      createConnection: () => socket,
    });
    const fail = (error: Error) => {
      clearTimeout(timer);
      call.destroy();
      socket.destroy();
      reject(new NoResponse(describe(error, url), performance.now() - start));
    };
    const timer = setTimeout(() => fail(new Error(`No response within ${timeout} ms`)), timeout);
    call.on('error', fail);
    call.on('response', (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MOST_BYTES) fail(new Error('A response of more than 1 MB'));
      });
      response.on('error', fail);
      response.on('end', () => {
        clearTimeout(timer);
        socket.destroy();
        const { 'set-cookie': cookies = [], ...single } = response.headers;
        resolve({
          status: response.statusCode ?? 0,
          headers: single as Record<string, string | undefined>,
          cookies,
          body: Buffer.concat(chunks).toString(),
          milliseconds: performance.now() - start,
        });
      });
    });
    call.end(body);
  });
}

/** What Node calls a failure, in words. */
const WORDS: Record<string, string> = {
  ECONNREFUSED: 'Nothing listens',
  ECONNRESET: 'The connection was closed without a whole response',
  ENOTFOUND: 'The name of the host is unknown',
  HPE_HEADER_OVERFLOW: 'The headers of the response are too long',
};

/** Of a certificate whose issuer is unknown here. */
const DISTRUST = /^(?:DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY))_/;

function describe(error: Error, { host }: URL): string {
  // Of several addresses of a name, none could be reached: the errors are inside.
  const [inner = error] = error instanceof AggregateError ? error.errors : [];
  const { code, message } = inner as NodeJS.ErrnoException;
  const known = code === undefined ? message : WORDS[code];
  if (!known && code?.startsWith('HPE_')) return `The response is not HTTP, from ${host}.`;
  const words = known ?? `The connection failed (${code})`;
  const hint =
    code && DISTRUST.test(code) ? ' If the certificate is yours, set NODE_EXTRA_CA_CERTS.' : '';
  return `${words}, at ${host}.${hint}`;
}
