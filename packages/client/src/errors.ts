import type { ErrorCode, LinkStatus, ParameterIssue } from '@latchkey/schema';
import { BRAND, hasBrand } from './brand.ts';
import { keepName } from './keep-name.ts';
import type { ResponseDetails } from './response-details.ts';

export type { ErrorCode } from '@latchkey/schema';

/** The members of an error besides its message. Members that do not apply are absent. */
export interface ErrorDetails {
  /** The service's stable code for the error. A newer service may send codes not listed here. */
  error_code?: ErrorCode | (string & {}) | undefined;
  /** HTTP status of the response. */
  status?: number | undefined;
  /** The status and the headers of the response. */
  response?: ResponseDetails | undefined;
  /** Identifies the request in the service's log. Quote it to the operator of the service. */
  request_id?: string | undefined;
  /** URL of the service's documentation of the error. */
  error_uri?: string | undefined;
  /** Seconds to wait before a retry, if the response says so. */
  retry_after?: number | undefined;
  /** The grant that a {@link CodeAlreadyUsedError} or an {@link OutcomeUnknownError} is about. */
  grant_id?: string | undefined;
  /** The OAuth error word of a {@link LinkFailedError}. */
  error?: string | undefined;
  /** The earlier decision, for an {@link InvalidRequestError} with `link_decided`. */
  link_status?: LinkStatus | undefined;
  /** The address that leads the browser back, for an {@link InvalidRequestError} with `link_expired`. */
  redirect_to?: string | undefined;
  /** The invalid parameters that an {@link InvalidRequestError} reports. */
  issues?: readonly ParameterIssue[] | undefined;
  /** Whether the service may have received the request, for a {@link ConnectionError}. */
  maybe_sent?: boolean | undefined;
  /** The errors of a failed recovery, in order, if `convert` was called with `recoverLostAnswer`. */
  recovery_errors?: readonly LatchkeyError[] | undefined;
  /** A copy of what the runtime threw, without credentials. */
  cause?: unknown;
}

/**
 * The base class of every error of this package. No error contains a credential in its message,
 * members, cause or stack, so errors can be logged as they are.
 *
 * `message` says what happened and what to do about it. `error_code` is stable: branch on it if the
 * class is not specific enough. An error without `status` had no response.
 *
 * @example
 * ```ts
 * import { AuthenticationError, LatchkeyError } from '@latchkey/client';
 *
 * try {
 *   greet((await latchkey.account(grantSecret)).display_name);
 * } catch (error) {
 *   if (error instanceof AuthenticationError) return startAgain();
 *   if (error instanceof LatchkeyError) log.warn({ request: error.request_id }, error.message);
 *   throw error;
 * }
 * ```
 */
export abstract class LatchkeyError extends Error {
  static {
    Object.defineProperty(LatchkeyError.prototype, BRAND, { value: true });
  }

  /** The name of the class. Bundlers do not change it. */
  declare name: LatchkeyErrorName;
  /** The service's stable code for the error; absent if the service did not respond. */
  declare readonly error_code?: ErrorCode | (string & {});
  /** HTTP status of the response; absent if there was none. */
  declare readonly status?: number;
  /**
   * The status and the headers of the response; absent if there was none. The property is not
   * enumerable, so logs and JSON of the error do not contain it.
   */
  declare readonly response?: ResponseDetails;
  /** Identifies the request in the service's log. Quote it to the operator of the service. */
  declare readonly request_id?: string;
  /** URL of the service's documentation of the error. */
  declare readonly error_uri?: string;
  /** Seconds to wait before a retry, if the response says so. */
  declare readonly retry_after?: number;
  /**
   * The errors of a failed recovery, in order, if `convert` was called with `recoverLostAnswer`. Empty
   * if the time was up before the recovery had a response.
   */
  declare readonly recovery_errors?: readonly LatchkeyError[];

  /**
   * Creates an error. The client does this itself; call it only in tests that replace the client.
   *
   * @param message - what happened, and what to do about it
   * @param details - the members of the error
   */
  constructor(message: string, details: ErrorDetails = {}) {
    const { cause, ...members } = details;
    super(message, cause === undefined ? undefined : { cause });
    for (const [name, value] of Object.entries(members)) {
      if (value === undefined) continue;
      // No log shows the headers, or the application's state in the address.
      const isShown = name !== 'response' && name !== 'redirect_to';
      Object.defineProperty(this, name, {
        value,
        configurable: true,
        enumerable: isShown,
        writable: isShown,
      });
    }
  }
}

/**
 * Whether a value is a {@link LatchkeyError}, including one from another copy of this package. A
 * program that loads the package with both `import` and `require` has two copies, and `instanceof`
 * recognises only its own. In such a program, branch on `error.name` next, which also narrows the type
 * of the error.
 *
 * @param value - any value, such as one that was caught
 * @returns true for an error of this package, from any copy of it
 *
 * @example
 * ```ts
 * import { isLatchkeyError } from '@latchkey/client';
 *
 * try {
 *   await latchkey.revoke(grantId);
 * } catch (error) {
 *   if (!isLatchkeyError(error)) throw error;
 *   switch (error.name) {
 *     case 'GrantNotFoundError':
 *       break; // it is unlinked already
 *     case 'OutcomeUnknownError':
 *       log.warn({ grant: error.grant_id }, error.message);
 *       break;
 *     default:
 *       throw error;
 *   }
 * }
 * ```
 */
export function isLatchkeyError(value: unknown): value is AnyLatchkeyError {
  return hasBrand(value);
}

/** An option of the constructor or of a call is missing or not valid. Nothing was sent. */
export class LatchkeyConfigError extends LatchkeyError {
  declare name: 'LatchkeyConfigError';
}

/**
 * The secret is not valid, or no longer valid (`credentials_missing`, `credentials_invalid`).
 *
 * From `convert`, `revoke` and `recover`: the application secret was removed or has expired. From
 * `account` and `grant`: the grant was revoked. A revoked grant can't be restored, so let the user
 * link the account again.
 */
export class AuthenticationError extends LatchkeyError {
  declare name: 'AuthenticationError';
}

/**
 * The key of the operator is valid, but its role may not call this operation. Nothing was done: use a
 * key with another role.
 */
export class RightMissingError extends LatchkeyError {
  declare name: 'RightMissingError';
}

/**
 * The secret is valid, but the operator has disabled the application that it belongs to. Nothing was
 * done and nothing is lost: keep the grant, and try again later. Grants and codes work as before when
 * the application is enabled again; a code still expires after 300 seconds.
 */
export class ApplicationDisabledError extends LatchkeyError {
  declare name: 'ApplicationDisabledError';
}

/**
 * The request is not valid, so a retry would fail too. With `status`, the service rejected it;
 * without, the client did, before anything was sent.
 */
export class InvalidRequestError extends LatchkeyError {
  declare name: 'InvalidRequestError';
  /** The invalid parameters, if the error is about parameters. */
  declare readonly issues?: readonly ParameterIssue[];
  /** With `link_decided`: the earlier decision. */
  declare readonly link_status?: LinkStatus;
  /**
   * With `link_expired`: the address that leads the browser back to the application. The property is
   * not enumerable, because the address contains the application's `state`.
   */
  declare readonly redirect_to?: string;
}

/**
 * This application has no such code. It was mistyped, cancelled, never issued, or issued to another
 * application. No code was used up.
 */
export class CodeNotFoundError extends LatchkeyError {
  declare name: 'CodeNotFoundError';
}

/** The code is older than 300 seconds. Let the user start the flow again. */
export class CodeExpiredError extends LatchkeyError {
  declare name: 'CodeExpiredError';
}

/**
 * This application converted the code before. The grant still works: use the one that you stored
 * under `grant_id`.
 */
export class CodeAlreadyUsedError extends LatchkeyError {
  declare name: 'CodeAlreadyUsedError';
  /** The id of the grant that the code was converted into. */
  declare readonly grant_id: string;
}

/** This application has no such grant. */
export class GrantNotFoundError extends LatchkeyError {
  declare name: 'GrantNotFoundError';
}

/** The grant was used already, or is older than 10 minutes, so it can't get a new secret. */
export class GrantNotRecoverableError extends LatchkeyError {
  declare name: 'GrantNotRecoverableError';
}

/** There were too many requests. Nothing was done; try again after `retry_after` seconds. */
export class RateLimitedError extends LatchkeyError {
  declare name: 'RateLimitedError';
}

/** The service can't reach its database. Nothing was done; try again after `retry_after` seconds. */
export class UnavailableError extends LatchkeyError {
  declare name: 'UnavailableError';
}

/**
 * The service itself does not know whether the change was made. After `revoke`, revoke again. After
 * `convert`, recover the grant named by `grant_id`; if there is no such grant, convert again.
 */
export class OutcomeUnknownError extends LatchkeyError {
  declare name: 'OutcomeUnknownError';
  /** The id of the grant that the change is about. */
  declare readonly grant_id: string;
}

/**
 * The service failed: `internal_error`, a 5xx code that this version does not know, or `outcome_unknown` of a
 * change that is not about a grant.
 */
export class ServerError extends LatchkeyError {
  declare name: 'ServerError';
}

/**
 * No complete response arrived: the connection was refused, or broke too early.
 *
 * `cause` is a copy of what the runtime threw (its name, message, code, address and stack), with
 * credentials redacted.
 */
export class ConnectionError extends LatchkeyError {
  /** `TimeoutError` for an error of that subclass. */
  declare name: 'ConnectionError' | 'TimeoutError';
  /**
   * Whether the service may have received and carried out the request. False only if the runtime
   * reports that no connection was made: refused, unknown host, or untrusted certificate. Node and Bun
   * report this; Deno and Cloudflare Workers do not, so there it is always true.
   */
  declare readonly maybe_sent: boolean;
}

/** No complete response arrived within `timeoutMs`. The service may still carry out the request. */
export class TimeoutError extends ConnectionError {
  declare name: 'TimeoutError';
}

/**
 * The response is not from Latchkey: an error page of a proxy, a redirect, a truncated or garbled
 * body, or another program at `baseUrl`. `status` is the status of the response; its body is not kept.
 * The service may have carried out the request.
 */
export class UnexpectedResponseError extends LatchkeyError {
  declare name: 'UnexpectedResponseError';
}

/**
 * The account was not linked, because the user did not allow it (`access_denied`) or took longer than
 * an hour (`link_expired`). Nothing went wrong: let the user start again.
 */
export class LinkDeniedError extends LatchkeyError {
  declare name: 'LinkDeniedError';
}

/**
 * The service refused to link the account, for example because the application may not ask for the
 * scope (`scope_unknown`). The user can't fix that. Quote `request_id` to the operator of the service.
 */
export class LinkFailedError extends LatchkeyError {
  declare name: 'LinkFailedError';
  /**
   * The OAuth error word in the callback (RFC 6749, section 4.1.2.1), such as `invalid_scope`; absent
   * if the callback has neither an error nor a code.
   */
  declare readonly error?: string;
}

/**
 * The callback does not belong to a link that this browser began: it began in another browser, has
 * ended more than 10 minutes ago, or somebody else made the address. No code was used up. Let the user
 * start again.
 */
export class StateMismatchError extends LatchkeyError {
  declare name: 'StateMismatchError';
}

/**
 * The callback does not come from `publicUrl` (RFC 9207). No code was used up. If it happens to every
 * user, set `publicUrl` to the PUBLIC_URL of the service.
 */
export class IssuerMismatchError extends LatchkeyError {
  declare name: 'IssuerMismatchError';
}

/** An error of any class of this package. Its `name` tells the classes apart. */
export type AnyLatchkeyError =
  | LatchkeyConfigError
  | AuthenticationError
  | RightMissingError
  | ApplicationDisabledError
  | InvalidRequestError
  | CodeNotFoundError
  | CodeExpiredError
  | CodeAlreadyUsedError
  | GrantNotFoundError
  | GrantNotRecoverableError
  | RateLimitedError
  | UnavailableError
  | OutcomeUnknownError
  | ServerError
  | ConnectionError
  | TimeoutError
  | UnexpectedResponseError
  | LinkDeniedError
  | LinkFailedError
  | StateMismatchError
  | IssuerMismatchError;

/** The `name` of every error of this package, for a `switch`. */
export type LatchkeyErrorName = AnyLatchkeyError['name'];

const names = {
  LatchkeyError,
  LatchkeyConfigError,
  AuthenticationError,
  RightMissingError,
  ApplicationDisabledError,
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
  LinkDeniedError,
  LinkFailedError,
  StateMismatchError,
  IssuerMismatchError,
} satisfies Record<LatchkeyErrorName | 'LatchkeyError', unknown>;
for (const [name, Class] of Object.entries(names)) keepName(Class, name);
