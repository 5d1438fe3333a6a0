import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Milliseconds } from '@latchkey/domain/clock';
import { OutboundError, type SentRequest, send } from './send.ts';

export interface OutboundRequest extends Omit<SentRequest, 'signal' | 'agents'> {
  /** Ends it before its time is over. Default: nothing does */
  signal?: AbortSignal;
  /** For everything, from the name's resolution to the last byte of the response. */
  timeout: Milliseconds;
  /** Of the response's body. */
  maxBytes: number;
}

export interface OutboundResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** As it was sent: a compressed one stays compressed. Null if it is longer than it may be. */
  body: Buffer | null;
}

/**
 * {@link send}, and the whole response.
 *
 * @throws OutboundError
 */
export async function request(
  url: URL,
  { timeout, maxBytes, signal: end, ...options }: OutboundRequest,
): Promise<OutboundResponse> {
  const limit = AbortSignal.timeout(timeout);
  const signal = end === undefined ? limit : AbortSignal.any([limit, end]);
  const response = await send(url, { ...options, signal });
  const { statusCode = 0, headers } = response;
  try {
    return { status: statusCode, headers, body: await read(response, maxBytes) };
  } catch (error) {
    throw new OutboundError(signal.aborted ? 'timeout' : 'connection_failed', error);
  }
}

async function read(response: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop destroys the connection.
  for await (const chunk of response) {
    length += chunk.length;
    if (length > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
