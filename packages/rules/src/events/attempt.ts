import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { createKeepAlive } from '../outbound/agents.ts';
import type { OutboundAllow } from '../outbound/destination.ts';
import { OutboundError, type OutboundFailure, type SentRequest, send } from '../outbound/send.ts';

export type AttemptResult = 'delivered' | 'refused' | 'redirected' | OutboundFailure;

/** One try of one delivery. */
interface Attempt {
  /** Its beginning. */
  at: Milliseconds;
  /** Until the headers of the response, or the failure. */
  duration_ms: Milliseconds;
  result: AttemptResult;
  /** Null without a response. */
  status_code: number | null;
}

export interface SentAttempt extends Attempt {
  /** What a 429 or 503 asks for, at most 3600. */
  retry_after_seconds: number | null;
}

export interface MessageToSend {
  url: string;
  /** See `messageHeaders`. */
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Of the shutdown: cuts the try. */
  signal: AbortSignal;
}

export interface SenderOptions {
  clock: Clock;
  allow: OutboundAllow;
  /** From the beginning until the headers. Default: 15 s. For tests. */
  timeout?: Milliseconds;
  /** For the rest of the response. Default: 1 s. For tests. */
  restTimeout?: Milliseconds;
  resolve?: SentRequest['resolve'];
}

const MAX_REST_BYTES = 65_536;
const MAX_RETRY_AFTER_SECONDS = 3600;

/** One for a process. Its connections are kept open for a few seconds, for the next message. */
export function createSender({
  clock,
  allow,
  timeout = 15_000,
  restTimeout = 1_000,
  resolve,
}: SenderOptions) {
  const agents = createKeepAlive();
  return {
    /**
     * Makes one try. It holds a connection until this resolves, at the latest after 16 s.
     *
     * @returns null if the signal cut the try, which is no attempt
     */
    async send({ url, headers, body, signal }: MessageToSend): Promise<SentAttempt | null> {
      if (signal.aborted) return null;
      const at = clock();
      const begin = performance.now();
      const ended = (result: AttemptResult) => ({
        at,
        duration_ms: Math.round(performance.now() - begin),
        result,
      });
      // Not AbortSignal.any, which would keep 2 KB for each message until the timeout has passed.
      const end = new AbortController();
      const abort = () => end.abort();
      const timer = setTimeout(abort, timeout);
      signal.addEventListener('abort', abort);
      try {
        const response = await send(new URL(url), {
          method: 'POST',
          headers,
          body,
          allow,
          agents,
          signal: end.signal,
          ...(resolve === undefined ? {} : { resolve }),
        });
        const { statusCode = 0 } = response;
        const attempt = { ...ended(resultOf(statusCode)), status_code: statusCode };
        await finish(response, restTimeout);
        return { ...attempt, retry_after_seconds: retryAfterOf(response, clock()) };
      } catch (error) {
        if (signal.aborted) return null;
        if (!(error instanceof OutboundError)) throw error;
        return { ...ended(error.failure), status_code: null, retry_after_seconds: null };
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      }
    },

    /** Closes the connections that are open. */
    close: agents.close,
  };
}

export type Sender = ReturnType<typeof createSender>;

function resultOf(status: number): AttemptResult {
  if (status >= 200 && status < 300) return 'delivered';
  return status >= 300 && status < 400 ? 'redirected' : 'refused';
}

/** Seconds, or one of the dates of RFC 9110, section 5.6.7, of which the oldest has no zone. */
function retryAfterOf({ statusCode, headers }: IncomingMessage, now: Milliseconds): number | null {
  if (statusCode !== 429 && statusCode !== 503) return null;
  const text = headers['retry-after'] ?? '';
  const date = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(`${text.replace(/ GMT$/, '')} GMT`) : NaN;
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((date - now) / 1000);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER_SECONDS);
}

/** Reads what is left of a small response, so that its connection can be used again. */
async function finish(response: IncomingMessage, timeout: Milliseconds): Promise<void> {
  let length = 0;
  response.on('data', (chunk) => {
    length += chunk.length;
    if (length > MAX_REST_BYTES) response.destroy();
  });
  const timer = setTimeout(() => response.destroy(), timeout);
  // However it ends, its status is known.
  await finished(response).catch(() => {});
  clearTimeout(timer);
}
