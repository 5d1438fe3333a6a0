import { withCallerStack } from './caller-stack.ts';
import { TimeoutError } from './errors.ts';
import { type Log, logRequest, logTo } from './logger.ts';
import {
  type CallOptions,
  type ConnectionOptions,
  checkBaseUrl,
  checkCallOptions,
  checkMaxRetries,
  checkTimeout,
  checkUserAgent,
  refuseBrowsers,
} from './options.ts';
import type { WithResponse } from './response-details.ts';
import { withRetries } from './retry.ts';
import { type RequestCall, sendRequest } from './send-request.ts';
import { type Deadline, withTimeout } from './until-aborted.ts';

/** How long a call may take, and how often it is retried. */
export interface Limits {
  readonly timeoutMs: number;
  readonly maxRetries: number;
}

/** The common part of all calls to a service: its address, timeouts, retries and log lines. */
export class ServiceClient {
  readonly baseUrl: URL;
  readonly log: Log;
  readonly #fetch: ConnectionOptions['fetch'];
  readonly #limits: Limits;
  readonly #userAgent: string;

  /** @throws LatchkeyConfigError if an option is missing or not valid, or in a browser */
  constructor(options: ConnectionOptions) {
    refuseBrowsers(options.dangerouslyAllowBrowser);
    this.baseUrl = checkBaseUrl(options.baseUrl, options.allowHttp);
    this.#limits = {
      timeoutMs: checkTimeout(options.timeoutMs),
      maxRetries: checkMaxRetries(options.maxRetries),
    };
    this.#userAgent = checkUserAgent(options.userAgent);
    this.#fetch = options.fetch;
    this.log = logTo(options.logger);
  }

  /**
   * Runs a method: checks its options, and shows its caller in the stack of every error.
   *
   * @param method - the method, which the stack leaves out
   * @param name - its name, which decides the options that it has
   */
  run<Result>(
    method: unknown,
    name: string,
    options: CallOptions,
    run: (limits: Limits) => Promise<Result>,
  ): Promise<Result> {
    return withCallerStack(method, async () => {
      checkCallOptions(name, options);
      return run({
        timeoutMs: checkTimeout(options.timeoutMs ?? this.#limits.timeoutMs),
        maxRetries: checkMaxRetries(options.maxRetries ?? this.#limits.maxRetries),
      });
    });
  }

  /** Runs a method that makes one call within its timeout. */
  runCall<Result>(
    method: unknown,
    name: string,
    options: CallOptions,
    send: (limits: SendLimits) => Promise<Result>,
  ): Promise<Result> {
    return this.run(method, name, options, ({ timeoutMs, maxRetries }) =>
      withTimeout(timeoutMs, options.signal, this.timeoutError, (deadline) =>
        send({ maxRetries, deadline }),
      ),
    );
  }

  /** Sends the request of a call, and its retries. */
  send(call: RequestCall, secret: string, limits: SendLimits): Promise<WithResponse<object>> {
    const { operation, isIdempotent } = call;
    const request = {
      baseUrl: this.baseUrl,
      fetch: this.#fetch,
      userAgent: this.#userAgent,
      secret,
      signal: limits.deadline.signal,
    };
    return withRetries({ operation, isIdempotent, ...limits, log: this.log }, () =>
      logRequest(this.log, operation, () => sendRequest(call, request)),
    );
  }

  readonly timeoutError = (timeoutMs: number) =>
    new TimeoutError(
      `No complete response from ${this.baseUrl.origin} within ${timeoutMs} ms. If the service needs longer, raise timeoutMs. It may still carry out the request.`,
      { maybe_sent: true },
    );
}

/** The limits of a call and its retries. */
export interface SendLimits {
  readonly maxRetries: number;
  readonly deadline: Deadline;
}
