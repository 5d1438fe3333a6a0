import { LatchkeyError } from './errors.ts';
import type { WithRequestId } from './request-id.ts';

/** What a line of the log is about. Members that do not apply are absent. */
export interface LogDetails {
  /** Such as `grants.convert`. */
  readonly operation: string;
  /** Milliseconds that the request took. */
  readonly ms?: number;
  /** Names the request in the service's log. */
  readonly requestId?: string;
  /** The class of the error. */
  readonly error?: string;
  /** The service's stable name for what went wrong, where it answered. */
  readonly errorCode?: string;
  /** HTTP status of the error. */
  readonly status?: number;
  /** Milliseconds until the next try. */
  readonly retryInMs?: number;
}

/**
 * Where the client tells what it does. `console` is one. It is told no credential, and no part of a
 * body. What it throws is ignored.
 *
 * @example
 * ```ts
 * import { Latchkey, type Logger } from '@latchkey/client';
 *
 * // Of a logger that takes the object first, as pino does.
 * const logger: Logger = {
 *   debug: (message, details) => log.debug(details, message),
 *   warn: (message, details) => log.warn(details, message),
 * };
 * const latchkey = new Latchkey({ logger });
 * ```
 */
export interface Logger {
  /**
   * Told of each request, when it has ended.
   *
   * @param message - a line for a person
   * @param details - the same, for a program
   */
  debug(message: string, details: LogDetails): void;
  /**
   * Told of each wait before another try, and of each answer that got lost and is asked for again.
   *
   * @param message - a line for a person
   * @param details - the same, for a program
   */
  warn(message: string, details: LogDetails): void;
}

export type Log = (level: keyof Logger, message: string, details: LogDetails) => void;

/** Writes to a logger, if there is one. */
export const logTo =
  (logger: Logger | undefined): Log =>
  (level, message, details) => {
    try {
      logger?.[level](`Latchkey ${message}`, details);
    } catch {
      // A grant must not get lost for the sake of a line in a log.
    }
  };

/** Makes one request, and tells how it ended. */
export async function logged<Result extends object>(
  log: Log,
  operation: string,
  request: () => Promise<WithRequestId<Result>>,
): Promise<WithRequestId<Result>> {
  const start = performance.now();
  const ended = (how: string, details: Partial<LogDetails>) => {
    const ms = Math.round(performance.now() - start);
    log('debug', `${operation}: ${how} after ${ms} ms`, { operation, ms, ...details });
  };
  try {
    const result = await request();
    const { requestId } = result;
    ended('answered', requestId === undefined ? {} : { requestId });
    return result;
  } catch (error) {
    // What is no error of ours comes of an abort.
    if (!(error instanceof LatchkeyError)) ended('aborted', {});
    else ended(error.name, detailsOf(error));
    throw error;
  }
}

const TOLD = ['errorCode', 'status', 'requestId'] as const;

/** What a line of the log tells of an error. */
export function detailsOf(error: LatchkeyError): Partial<LogDetails> {
  const members = TOLD.filter((name) => name in error).map((name) => [name, error[name]]);
  return { error: error.name, ...Object.fromEntries(members) };
}
