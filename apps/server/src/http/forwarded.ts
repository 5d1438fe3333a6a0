import type { IncomingMessage } from 'node:http';

/**
 * The value of an X-Forwarded-* header that our own proxy set: the last one, since a proxy appends
 * to what it was sent, and everything before may be made up by the caller.
 */
export function nearestValue(header: string | string[] | undefined): string | undefined {
  const values = Array.isArray(header) ? header.join(',') : header;
  return values?.split(',').at(-1)?.trim() || undefined;
}

/**
 * Where a request came from.
 *
 * @param trustProxy - whether the peer is a proxy of ours, which tells its own peer
 */
export function callerAddress(request: IncomingMessage, trustProxy: boolean): string | undefined {
  const forwarded = trustProxy ? nearestValue(request.headers['x-forwarded-for']) : undefined;
  return forwarded ?? request.socket.remoteAddress;
}
