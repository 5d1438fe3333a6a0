import { TIMEOUT } from 'node:dns';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAddressAllowed } from './addresses.ts';
import { type Agents, singleUse, timeSpentOn } from './agents.ts';
import { allowedAt, hostOf, type OutboundAllow } from './destination.ts';
import { type Resolve, resolveName } from './resolve.ts';

export interface SentRequest {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string;
  allow: OutboundAllow;
  /** Ends the request, and the response after it. */
  signal: AbortSignal;
  /** Called once a server has shown that it is there: of https, by the end of its handshake. */
  onConnected?: (() => void) | undefined;
  /** Default: a connection of its own. */
  agents?: Agents;
  /** Default: as the machine resolves names. */
  resolve?: Resolve;
}

export type OutboundFailure = 'address_refused' | 'connection_failed' | 'tls_failed' | 'timeout';

export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, cause?: unknown) {
    super(failure, { cause });
    this.failure = failure;
  }
}

const MAX_HEADER_BYTES = 16_384;

// A server may say 103 before its response, and 100 or 102. Each one is parsed.
const MAX_INTERIM_RESPONSES = 10;

/**
 * The only way in which the service connects to a host that strangers name. A redirect is a response as
 * any other.
 *
 * @returns the response, as soon as its headers are there
 * @throws OutboundError; `timeout` when the signal was aborted, or no name server has answered
 */
export async function send(url: URL, options: SentRequest): Promise<IncomingMessage> {
  const { method, headers, body, allow, signal, agents = singleUse } = options;
  const { resolve = resolveName } = options;
  const allowed = allowedAt(url, allow);
  if (allowed === null) throw new OutboundError('address_refused');
  const isAllowed = (address: string) =>
    isAddressAllowed(address, { allowPrivate: allowed.private });
  const host = hostOf(url);
  // Node asks no `lookup` for an address.
  if (isIP(host) !== 0 && !isAllowed(host)) throw new OutboundError('address_refused');
  if (signal.aborted) throw new OutboundError('timeout', signal.reason);

  const isSecure = url.protocol === 'https:';
  const sent = (isSecure ? https : http).request(url, {
    agent: isSecure ? agents.https : agents.http,
    method,
    headers: { ...headers, 'accept-encoding': 'identity' },
    lookup: onlyAllowed(resolve, isAllowed),
    maxHeaderSize: MAX_HEADER_BYTES,
    signal,
  });
  const progress = follow(sent, () => options.onConnected?.());
  try {
    sent.end(body);
    return await responseTo(sent);
  } catch (error) {
    if (error instanceof OutboundError) throw error;
    const isLateName = (error as NodeJS.ErrnoException).code === TIMEOUT;
    if (signal.aborted || isLateName) throw new OutboundError('timeout', error);
    // The server closed the connection before the request reached it.
    if (sent.reusedSocket && isReset(error)) return send(url, { ...options, agents: singleUse });
    if (!isSecure || !progress.isInHandshake) throw new OutboundError('connection_failed', error);
    const spent = sent.socket === null ? 0 : timeSpentOn(sent.socket);
    await sleep(REST_AFTER_HANDSHAKE * spent, undefined, { signal }).catch(() => {});
    throw new OutboundError('tls_failed', error);
  }
}

// Certificates that nobody trusts can take 45 ms of the event loop. So whoever shows some keeps the place of their
// request for that much longer, or until somebody takes it, which is a second after it began at the earliest: all places
// together leave most of the event loop to others.
const REST_AFTER_HANDSHAKE = 40;

const isReset = (error: unknown) =>
  ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');

// Of each family. Whoever owns a name may give it thousands: each one costs a connection and an error, and 10 µs to
// find out whether it is allowed.
const MOST_ADDRESSES = 4;

/** The socket connects to the addresses that this returns, and resolves nothing again. */
function onlyAllowed(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const of = Map.groupBy(addresses, ({ family }) => family);
      const few = [...of.values()].flatMap((some) => some.slice(0, MOST_ADDRESSES));
      const allowed = few.filter(({ address }) => isAllowed(address));
      callback(allowed.length > 0 ? null : new OutboundError('address_refused'), allowed);
    });
}

function follow(sent: ClientRequest, onConnected: () => void): { isInHandshake: boolean } {
  const progress = { isInHandshake: false };
  sent.once('socket', (socket) => {
    // It was connected for another request, and would collect listeners.
    if (sent.reusedSocket) return;
    socket.once('connect', () => {
      progress.isInHandshake = true;
    });
    socket.once('secureConnect', () => {
      progress.isInHandshake = false;
      onConnected();
    });
  });
  return progress;
}

function responseTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let interim = 0;
    sent.on('information', () => {
      interim += 1;
      if (interim > MAX_INTERIM_RESPONSES) sent.destroy(new Error('Too many interim responses.'));
    });
    // Not `once`: an error after the response, such as that of the timeout, has no other listener.
    sent.on('error', reject);
    sent.once('response', resolve);
    // A response that changes the protocol is neither a response nor an error.
    sent.once('close', () => reject(new Error('The connection was closed without a response.')));
  });
}
