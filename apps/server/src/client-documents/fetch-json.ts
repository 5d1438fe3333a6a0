import type { Milliseconds } from '../clock.ts';
import { OutboundError, type OutboundRequest, request } from '../outbound/request.ts';

export interface FetchOptions {
  userAgent: string;
  maxBytes: number;
  allowPrivate: boolean;
  timeout?: Milliseconds;
  resolve?: OutboundRequest['resolve'];
}

export interface Fetched {
  body: Buffer;
  /** How long it may be kept. */
  keep: Milliseconds;
}

/** Why there is nothing to read. The message has no value of what was fetched. */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure';
  /** Nobody has said that it is gone: what was there before may still serve. */
  readonly unreachable: boolean;

  constructor(message: string, options: { unreachable: boolean; cause?: unknown }) {
    super(message, options);
    this.unreachable = options.unreachable;
  }
}

const MINUTE: Milliseconds = 60_000;
const HOUR = 60 * MINUTE;
const KEPT_AT_LEAST = 5 * MINUTE;
const KEPT_AT_MOST = 24 * HOUR;

/** @throws FetchFailure */
export async function fetchJson(
  address: URL,
  { userAgent, maxBytes, allowPrivate, timeout = 5_000, resolve }: FetchOptions,
): Promise<Fetched> {
  const { status, headers, body } = await request(address, {
    method: 'GET',
    headers: { accept: 'application/json', 'user-agent': userAgent },
    timeout,
    maxBytes,
    allow: { private: allowPrivate, http: false },
    ...(resolve === undefined ? {} : { resolve }),
  }).catch((cause) => {
    if (!(cause instanceof OutboundError)) throw cause;
    throw new FetchFailure(failures[cause.failure], {
      unreachable: cause.failure !== 'too_large',
      cause,
    });
  });
  if (status !== 200) {
    const unreachable = status === 429 || status >= 500;
    throw new FetchFailure('The status is not 200', { unreachable, cause: status });
  }
  if (headers['content-encoding'] !== undefined) {
    throw new FetchFailure('The response has a Content-Encoding', { unreachable: false });
  }
  if (!/^application\/(?:[^\s;]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    throw new FetchFailure('The Content-Type is not of JSON', { unreachable: false });
  }
  return { body, keep: keepOf(headers['cache-control']) };
}

const failures = {
  address_refused: 'The host has no address that this service connects to',
  connection_failed: 'The connection failed',
  tls_failed: 'TLS failed',
  timeout: 'The response was not there in time',
  too_large: 'The response is too large',
} as const;

function keepOf(cacheControl: string | undefined): Milliseconds {
  const [, seconds] = /(?:^|[,\s])max-age="?(\d{1,10})/i.exec(cacheControl ?? '') ?? [];
  if (seconds === undefined) return HOUR;
  return Math.min(Math.max(Number(seconds) * 1000, KEPT_AT_LEAST), KEPT_AT_MOST);
}
