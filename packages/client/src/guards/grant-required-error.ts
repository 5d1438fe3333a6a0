/** What the body of a refusal has: the members of Latchkey's own errors that are about the request. */
export interface RefusalBody {
  /** The standard OAuth word (RFC 6750 section 3.1, RFC 6749 section 5.2). */
  readonly error: 'invalid_token' | 'insufficient_scope' | 'temporarily_unavailable';
  /** What happened, and what the caller can do. */
  readonly error_description: string;
  /** Stable; the one to branch on. */
  readonly error_code:
    | 'credentials_missing'
    | 'credentials_invalid'
    | 'scope_insufficient'
    | 'grant_unverifiable';
}

/** A refusal as it goes over the wire. */
export interface Refusal {
  /** HTTP status. */
  readonly status: 401 | 403 | 503;
  /** With `WWW-Authenticate` where `status` is 401 or 403, and `Retry-After` where it is 503. */
  readonly headers: Readonly<Record<string, string>>;
  /** To be sent as JSON. */
  readonly body: RefusalBody;
}

/**
 * A request was not let in. Carries the whole answer, ready to be sent, and no part of what the
 * caller sent.
 *
 * | `status` | `body.error_code`     | what happened                                                 |
 * | -------- | --------------------- | ------------------------------------------------------------- |
 * | 401      | `credentials_missing` | there is no Authorization header                              |
 * | 401      | `credentials_invalid` | what is in it is no live grant: mistyped, unknown, or revoked |
 * | 403      | `scope_insufficient`  | the grant is live, and lacks a scope                          |
 * | 503      | `grant_unverifiable`  | Latchkey could not be asked; `cause` has its `LatchkeyError`  |
 */
export class GrantRequiredError extends Error {
  static {
    // As for the errors of the client: what a log shows survives minifying.
    const value = 'GrantRequiredError';
    Object.defineProperty(GrantRequiredError, 'name', { value });
    Object.defineProperty(GrantRequiredError.prototype, 'name', {
      value,
      configurable: true,
      writable: true,
    });
  }

  /** `GrantRequiredError`. */
  declare name: 'GrantRequiredError';
  /** HTTP status of the answer. */
  readonly status: Refusal['status'];
  /** Headers of the answer. */
  readonly headers: Refusal['headers'];
  /** Body of the answer, to be sent as JSON. */
  readonly body: RefusalBody;

  /**
   * Guards make it.
   *
   * @param refusal - the answer
   * @param cause - the `LatchkeyError` that kept Latchkey from being asked
   */
  constructor(refusal: Refusal, cause?: unknown) {
    super(refusal.body.error_description, cause === undefined ? undefined : { cause });
    this.status = refusal.status;
    this.headers = refusal.headers;
    this.body = refusal.body;
  }

  /**
   * The answer, for a handler that returns a `Response`.
   *
   * @returns a new one each time
   *
   * @example
   * ```ts
   * import { GrantRequiredError, requireGrant } from '@latchkey/client/guards';
   *
   * try {
   *   await requireGrant(request, { latchkey });
   * } catch (error) {
   *   if (error instanceof GrantRequiredError) return error.toResponse();
   *   throw error;
   * }
   * ```
   */
  toResponse(): Response {
    return new Response(JSON.stringify(this.body), { status: this.status, headers: this.headers });
  }
}
