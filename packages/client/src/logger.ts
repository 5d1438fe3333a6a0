import { LatchkeyError } from './errors.ts';
import type { WithResponse } from './response-details.ts';

/** The structured part of a log line. Members that do not apply are absent. */
export interface LogDetails {
  /** The operation, such as `grants.convert`. */
  readonly operation: string;
  /** Milliseconds that the request took. */
  readonly ms?: number;
  /** Identifies the request in the service's log. */
  readonly request_id?: string;
  /** The name of the error's class. */
  readonly error?: string;
  /** The service's stable code for the error, if it responded. */
  readonly error_code?: string;
  /** HTTP status of the error. */
  readonly status?: number;
  /** Milliseconds until the retry. */
  readonly retry_in_ms?: number;
}

/**
 * Receives the client's log lines: the object first, then the text. A pino logger is a valid logger,
 * and so are Fastify's `app.log` and `console`. No line contains a credential or any part of a body.
 * Errors that a logger throws are ignored.
 *
 * @example
 * ```ts
 * import { Latchkey, type Logger } from '@latchkey/client';
 *
 * // For a logger that takes the text first, as winston does.
 * const logger: Logger = {
 *   debug: (details, message) => log.debug(message, details),
 *   warn: (details, message) => log.warn(message, details),
 * };
 * const latchkey = new Latchkey({ logger });
 * ```
 */
export interface Logger {
  /**
   * Called once for each request, after it ends.
   *
   * @param details - the line as an object
   * @param message - the same as text
   */
  debug(details: LogDetails, message: string): void;
  /**
   * Called before each retry, and before each recovery of a lost response.
   *
   * @param details - the line as an object
   * @param message - the same as text
   */
  warn(details: LogDetails, message: string): void;
}

export type Log = (level: keyof Logger, message: string, details: LogDetails) => void;

/** Writes to a logger, if there is one. Errors of the logger are ignored. */
export const logTo =
  (logger: Logger | undefined): Log =>
  (level, message, details) => {
    try {
      logger?.[level](details, `Latchkey ${message}`);
    } catch {
      // A broken logger must not cost the caller a grant.
    }
  };

/** Makes one request, and logs how it ended. */
export async function logRequest<Result extends object>(
  log: Log,
  operation: string,
  request: () => Promise<WithResponse<Result>>,
): Promise<WithResponse<Result>> {
  const start = performance.now();
  const ended = (how: string, details: Partial<LogDetails>) => {
    const ms = Math.round(performance.now() - start);
    log('debug', `${operation}: ${how} after ${ms} ms`, { operation, ms, ...details });
  };
  try {
    const result = await request();
    const { request_id } = result;
    ended('succeeded', request_id === undefined ? {} : { request_id });
    return result;
  } catch (error) {
    // Anything but a LatchkeyError is the caller's abort reason, or for Next.js.
    if (!(error instanceof LatchkeyError)) ended('aborted', {});
    else ended(error.name, logDetailsOf(error));
    throw error;
  }
}

const LOGGED_MEMBERS = ['error_code', 'status', 'request_id'] as const;

/** The members of a log line about an error. */
export function logDetailsOf(error: LatchkeyError): Partial<LogDetails> {
  const members = LOGGED_MEMBERS.filter((name) => name in error).map((name) => [name, error[name]]);
  return { error: error.name, ...Object.fromEntries(members) };
}
