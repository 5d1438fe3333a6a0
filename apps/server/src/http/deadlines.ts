import type { ServerOptions, ServerResponse } from 'node:http';

/** How long a caller may take before it is cut off, in milliseconds. */
export interface Deadlines {
  /** From its connection, or its first byte after the request before, to the end of its headers. */
  headers: number;
  /** To the end of its body, from the same moment on. */
  request: number;
  /** From the answer until it has taken the whole of it. */
  answer: number;
}

// A whole request of ours fits into one packet or a few: who needs longer is not sending one. The
// largest answer is a file of the documentation page, 1.5 MB: within a minute on a bad line.
export const DEADLINES: Deadlines = { headers: 10_000, request: 20_000, answer: 60_000 };

// Node looks for late callers at this interval, every 30 s unless told: a deadline of 10 s would
// be one of up to 40.
const CHECKING_INTERVAL = 1_000;

/** The deadlines of a request, which Node keeps itself. */
export function requestDeadlines({ headers, request }: Deadlines): ServerOptions {
  return {
    headersTimeout: headers,
    requestTimeout: request,
    connectionsCheckingInterval: CHECKING_INTERVAL,
  };
}

/**
 * Cuts off a caller that does not take its answer. Node has no deadline for that: it would keep the
 * connection, and what is to be sent on it, for as long as the caller likes.
 */
export function cutWhereNotTaken(response: ServerResponse, { answer }: Deadlines): void {
  // Nearly every answer is with the operating system by now.
  if (response.writableLength === 0) return;
  const timer = setTimeout(() => response.destroy(), answer);
  response.once('close', () => clearTimeout(timer));
}
