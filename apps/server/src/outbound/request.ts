import { lookup as resolveName } from 'node:dns';
import http, {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Milliseconds } from '../clock.ts';
import { isAddressAllowed } from './addresses.ts';

export interface OutboundRequest {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** For everything, from the name's resolution to the last byte of the response. */
  timeout: Milliseconds;
  /** Of the response's body. */
  maxBytes: number;
  allow: {
    /** Loopback, private, unique-local and shared addresses. */
    private: boolean;
    /** `http:` too. */
    http: boolean;
  };
  /** Default: as the machine resolves names. */
  resolve?: typeof resolveName;
}

export interface OutboundResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** As it was sent: a compressed one stays compressed. */
  body: Buffer;
}

export type OutboundFailure =
  | 'address_refused'
  | 'connection_failed'
  | 'tls_failed'
  | 'timeout'
  | 'too_large';

export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, cause?: unknown) {
    super(failure, { cause });
    this.failure = failure;
  }
}

// Agents of our own: Node's global ones obey proxy variables (NODE_USE_ENV_PROXY). Without
// keep-alive, each request makes a connection, whose address is checked; without a session, each
// connection shows its certificate.
const agents = {
  'http:': new http.Agent(),
  'https:': new https.Agent({
    maxCachedSessions: 0,
    minVersion: 'TLSv1.2',
    // Named, because NODE_TLS_REJECT_UNAUTHORIZED changes the default.
    rejectUnauthorized: true,
  }),
};

/**
 * The only way in which the service connects to a host that strangers name. A redirect is a
 * response as any other.
 *
 * @throws OutboundError
 */
export async function request(url: URL, options: OutboundRequest): Promise<OutboundResponse> {
  const { method, headers, body, timeout, maxBytes, allow, resolve = resolveName } = options;
  const { protocol } = url;
  if (protocol !== 'https:' && !(allow.http && protocol === 'http:')) {
    throw new OutboundError('address_refused');
  }
  const isAllowed = (address: string) => isAddressAllowed(address, { allowPrivate: allow.private });
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // Node asks no `lookup` for an address.
  if (isIP(host) !== 0 && !isAllowed(host)) throw new OutboundError('address_refused');

  const signal = AbortSignal.timeout(timeout);
  let progress: Progress = { connected: false, secured: false };
  try {
    const sent = (protocol === 'https:' ? https : http).request(url, {
      agent: agents[protocol],
      method,
      headers: { ...headers, 'accept-encoding': 'identity' },
      lookup: onlyAllowed(resolve, isAllowed),
      maxHeaderSize: 16_384,
      signal,
    });
    progress = follow(sent);
    sent.end(body);
    const response = await responseTo(sent);
    const { statusCode = 0 } = response;
    return { status: statusCode, headers: response.headers, body: await read(response, maxBytes) };
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    if (signal.aborted) throw new OutboundError('timeout', error);
    const isTls = protocol === 'https:' && progress.connected && !progress.secured;
    throw new OutboundError(isTls ? 'tls_failed' : 'connection_failed', error);
  }
}

/** The socket connects to the addresses that this returns, and resolves nothing again. */
function onlyAllowed(
  resolve: typeof resolveName,
  isAllowed: (address: string) => boolean,
): LookupFunction {
  return (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const allowed = addresses.filter(({ address }) => isAllowed(address));
      const [first] = allowed;
      if (first === undefined) return callback(new OutboundError('address_refused'), []);
      if (options.all) return callback(null, allowed);
      callback(null, first.address, first.family);
    });
}

interface Progress {
  connected: boolean;
  secured: boolean;
}

function follow(sent: ClientRequest): Progress {
  const progress = { connected: false, secured: false };
  sent.once('socket', (socket) => {
    socket.once('connect', () => {
      progress.connected = true;
    });
    socket.once('secureConnect', () => {
      progress.secured = true;
    });
  });
  return progress;
}

function responseTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // Not `once`: an error after the response, such as that of the timeout, has no other listener.
    sent.on('error', reject);
    sent.once('response', resolve);
    // A response that changes the protocol is neither a response nor an error.
    sent.once('close', () => reject(new Error('The connection was closed without a response.')));
  });
}

async function read(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop destroys the connection.
  for await (const chunk of response) {
    length += chunk.length;
    if (length > maxBytes) throw new OutboundError('too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
