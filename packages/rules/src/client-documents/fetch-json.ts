import { isIP } from 'node:net';
import type { Milliseconds } from '@latchkey/domain/clock';
import { hostOf } from '../outbound/destination.ts';
import { request } from '../outbound/request.ts';
import { type Resolve, resolveName } from '../outbound/resolve.ts';
import { OutboundError } from '../outbound/send.ts';
import type { VouchedAddress } from '../vouchers.ts';
import { DocumentFailure } from './faults.ts';

export interface FetchOptions {
  userAgent: string;
  maxBytes: number;
  allowPrivate: boolean;
  /** Ends it, as if its time were over. */
  signal: AbortSignal;
  onConnected: () => void;
  timeout?: Milliseconds;
  resolve?: Resolve;
}

export interface Fetched {
  body: Buffer;
  /** How long it may be kept. */
  keep: Milliseconds;
}

const MINUTE: Milliseconds = 60_000;
const HOUR = 60 * MINUTE;
const KEPT_AT_LEAST = 5 * MINUTE;
const KEPT_AT_MOST = 24 * HOUR;

/** @throws DocumentFailure */
export async function fetchJson(
  { address }: VouchedAddress,
  {
    userAgent,
    maxBytes,
    allowPrivate,
    signal,
    onConnected,
    timeout = 5_000,
    resolve = resolveName,
  }: FetchOptions,
): Promise<Fetched> {
  const url = new URL(address);
  const host = hostOf(url);
  // Only the machine's own ways resolve it, each with a thread, and to nothing outside of the operator's network.
  if (!allowPrivate && !host.includes('.') && isIP(host) === 0) {
    throw new DocumentFailure('document_address_refused');
  }
  const { status, headers, body } = await request(url, {
    method: 'GET',
    headers: { accept: 'application/json', 'user-agent': userAgent },
    timeout,
    signal,
    onConnected,
    maxBytes,
    allow: { private: allowPrivate, http: false },
    // With a dot at its end, a name is not looked for in the operator's search domains, whose addresses it may not have.
    resolve: allowPrivate ? resolve : (name, ...rest) => resolve(`${name}.`, ...rest),
  }).catch((cause) => {
    if (!(cause instanceof OutboundError)) throw cause;
    throw new DocumentFailure(failures[cause.failure], cause);
  });
  if (status === 410) throw new DocumentFailure('document_gone');
  if (status !== 200) throw new DocumentFailure('document_status', status);
  // First the type: a page of HTML is not what the developers have published, whatever else it is.
  if (!/^application\/(?:[^\s;]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    throw new DocumentFailure('document_content_type');
  }
  if (headers['content-encoding'] !== undefined) throw new DocumentFailure('document_encoded');
  if (body === null) throw new DocumentFailure('document_too_large');
  return { body, keep: keepOf(headers['cache-control']) };
}

const failures = {
  address_refused: 'document_address_refused',
  connection_failed: 'document_connection_failed',
  tls_failed: 'document_tls_failed',
  timeout: 'document_late',
} as const;

function keepOf(cacheControl: string | undefined): Milliseconds {
  const [, seconds] = /(?:^|[,\s])max-age="?(\d{1,10})/i.exec(cacheControl ?? '') ?? [];
  if (seconds === undefined) return HOUR;
  return Math.min(Math.max(Number(seconds) * 1000, KEPT_AT_LEAST), KEPT_AT_MOST);
}
