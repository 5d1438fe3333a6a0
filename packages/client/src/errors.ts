import type { ParameterIssue } from '@latchkey/schema';
import type { ErrorCode } from './error-code.ts';
import { BRAND } from './is-latchkey-error.ts';

/** The members of an error, besides its message. Those that do not apply to it are absent. */
export interface ErrorDetails {
  /** The service's stable name for what went wrong. A newer service may have others. */
  errorCode?: ErrorCode | (string & {}) | undefined;
  /** HTTP status of the answer. */
  status?: number | undefined;
  /** Names the request in the service's log: give it to the operator of the service. */
  requestId?: string | undefined;
  /** Where the service documents the error. */
  errorUri?: string | undefined;
  /** Seconds to wait before another try, where the answer says so. */
  retryAfter?: number | undefined;
  /** The grant that {@link CodeAlreadyUsedError} and {@link OutcomeUnknownError} are about. */
  grant_id?: string | undefined;
  /** What {@link InvalidRequestError} finds wrong with the parameters. */
  issues?: readonly ParameterIssue[] | undefined;
  /** Whether the service may have got the request, of {@link ConnectionError}. */
  maybeSent?: boolean | undefined;
  /** What followed, in order, where `convert` with `recoverLostAnswer` asked again in vain. */
  recoveryErrors?: readonly LatchkeyError[] | undefined;
  /** What the runtime threw, as a copy without credentials. */
  cause?: unknown;
}

/**
 * Every error of this package extends this class. None carries a credential: not in its message,
 * its members, its cause or its stack, so any of them can be logged as it is.
 *
 * `message` says what happened and what to do about it, `errorCode` is stable and the one to branch
 * on where a class is not fine enough. An error without `status` never had an answer.
 *
 * @example
 * ```ts
 * import { AuthenticationError, LatchkeyError } from '@latchkey/client';
 *
 * try {
 *   greet((await latchkey.account(grantSecret)).display_name);
 * } catch (error) {
 *   if (error instanceof AuthenticationError) return startAgain();
 *   if (error instanceof LatchkeyError) log.warn({ request: error.requestId }, error.message);
 *   throw error;
 * }
 * ```
 */
export class LatchkeyError extends Error {
  static {
    Object.defineProperty(LatchkeyError.prototype, BRAND, { value: true });
  }

  /** The service's stable name for what went wrong; absent where the service did not answer. */
  declare readonly errorCode?: ErrorCode | (string & {});
  /** HTTP status of the answer; absent where there was none. */
  declare readonly status?: number;
  /** Names the request in the service's log: give it to the operator of the service. */
  declare readonly requestId?: string;
  /** Where the service documents the error. */
  declare readonly errorUri?: string;
  /** Seconds to wait before another try, where the answer says so. */
  declare readonly retryAfter?: number;
  /**
   * What followed, in order, where `convert` with `recoverLostAnswer` asked again in vain. Empty
   * where its time was up before anything came back.
   */
  declare readonly recoveryErrors?: readonly LatchkeyError[];

  /**
   * The client makes its errors itself. Make one to stand in for it in a test of your own.
   *
   * @param message - what happened, and what to do about it
   * @param details - the members that it has
   */
  constructor(message: string, details: ErrorDetails = {}) {
    const { cause, ...members } = details;
    super(message, cause === undefined ? undefined : { cause });
    for (const [name, value] of Object.entries(members)) {
      if (value !== undefined) Object.assign(this, { [name]: value });
    }
  }
}

/** An option is missing or wrong: of the constructor, or of one call. Nothing was sent. */
export class LatchkeyConfigError extends LatchkeyError {
  declare name: 'LatchkeyConfigError';
}

/**
 * The secret is not valid, or no longer (`credentials_missing`, `credentials_invalid`).
 *
 * From `convert` and `revoke`: the application secret was removed or has expired, or the
 * application is disabled. From `account` and `grant`: the grant was revoked or its application is
 * disabled; a revoked grant does not come back, so let the user link the account again.
 */
export class AuthenticationError extends LatchkeyError {
  declare name: 'AuthenticationError';
}

/**
 * The request is wrong, and would be again. With `status`, the service refused it; without, the
 * client did before anything was sent.
 */
export class InvalidRequestError extends LatchkeyError {
  declare name: 'InvalidRequestError';
  /** What is wrong with which parameter, where the error is about parameters. */
  declare readonly issues?: readonly ParameterIssue[];
}

/**
 * There is no such code for this application: mistyped, cancelled, never issued, or issued to
 * another application. Nothing was consumed.
 */
export class CodeNotFoundError extends LatchkeyError {
  declare name: 'CodeNotFoundError';
}

/** The code is older than 300 seconds. Let the user start the flow again. */
export class CodeExpiredError extends LatchkeyError {
  declare name: 'CodeExpiredError';
}

/**
 * This application exchanged the code before. The grant works as before: use the one that is stored
 * under `grant_id`.
 */
export class CodeAlreadyUsedError extends LatchkeyError {
  declare name: 'CodeAlreadyUsedError';
  /** The grant that the code became. */
  declare readonly grant_id: string;
}

/** This application has no such grant. */
export class GrantNotFoundError extends LatchkeyError {
  declare name: 'GrantNotFoundError';
}

/** The grant was used before or is older than 10 minutes, so it gets no new secret. */
export class GrantNotRecoverableError extends LatchkeyError {
  declare name: 'GrantNotRecoverableError';
}

/** Too many requests. Nothing was done; try again after `retryAfter` seconds. */
export class RateLimitedError extends LatchkeyError {
  declare name: 'RateLimitedError';
}

/** The service cannot reach its database. Nothing was done; try again after `retryAfter` seconds. */
export class UnavailableError extends LatchkeyError {
  declare name: 'UnavailableError';
}

/**
 * The service itself does not know whether the change was made. After `revoke`, revoke again. After
 * `convert`, recover the grant named by `grant_id`; where there is none, convert again.
 */
export class OutcomeUnknownError extends LatchkeyError {
  declare name: 'OutcomeUnknownError';
  /** The grant that the change is about. */
  declare readonly grant_id: string;
}

/** The service failed (`internal_error`, or a 5xx that this version does not know). */
export class ServerError extends LatchkeyError {
  declare name: 'ServerError';
}

/**
 * Nothing certain came back: the connection was refused, or was cut before the answer was complete.
 *
 * `cause` is a copy of what the runtime threw (its name, message, code, address and stack), with
 * credentials blacked out.
 */
export class ConnectionError extends LatchkeyError {
  /** `TimeoutError` where it is one. */
  declare name: 'ConnectionError' | 'TimeoutError';
  /**
   * Whether the service may have got the request, and have done what it says. False only where the
   * runtime says that there was no connection: refused, no such host, no trusted certificate. Node
   * and Bun say so; Deno and Cloudflare Workers do not, so it is always true there.
   */
  declare readonly maybeSent: boolean;
}

/** There was no complete answer within `timeoutMs`. The service may still do what was asked. */
export class TimeoutError extends ConnectionError {
  declare name: 'TimeoutError';
}

/**
 * What answered does not speak as Latchkey does: a proxy's error page, a redirect, a cut or garbled
 * answer, or something else altogether at `baseUrl`. `status` is that of the answer; its contents
 * are not kept. The service may have done what was asked.
 */
export class UnexpectedResponseError extends LatchkeyError {
  declare name: 'UnexpectedResponseError';
}

// The names survive minifying, ours and that of a user's bundler: stacks and logs show them. On the
// prototype, where a stack finds it when it is written, which is before any field is set.
const names = {
  LatchkeyError,
  LatchkeyConfigError,
  AuthenticationError,
  InvalidRequestError,
  CodeNotFoundError,
  CodeExpiredError,
  CodeAlreadyUsedError,
  GrantNotFoundError,
  GrantNotRecoverableError,
  RateLimitedError,
  UnavailableError,
  OutcomeUnknownError,
  ServerError,
  ConnectionError,
  TimeoutError,
  UnexpectedResponseError,
};
for (const [value, Class] of Object.entries(names)) {
  Object.defineProperty(Class, 'name', { value });
  Object.defineProperty(Class.prototype, 'name', { value, configurable: true, writable: true });
}
