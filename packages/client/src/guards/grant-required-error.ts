import { keepName } from '../keep-name.ts';

// The SDK's longest wait between two attempts, used if Latchkey sends no Retry-After.
const RETRY_AFTER_SECONDS = 5;

/** The body of a refusal. Its members have the names that Latchkey's own errors use. */
export interface RefusalBody {
  /** The standard OAuth error code (RFC 6750, section 3.1; RFC 6749, section 4.1.2.1). */
  readonly error:
    | 'invalid_token'
    | 'insufficient_scope'
    | 'unauthorized_client'
    | 'temporarily_unavailable';
  /** What happened, and what the caller can do about it. */
  readonly error_description: string;
  /** Latchkey's stable error code: branch on this. */
  readonly error_code:
    | 'credentials_missing'
    | 'credentials_invalid'
    | 'resource_mismatch'
    | 'application_disabled'
    | 'application_not_accepted'
    | 'scope_insufficient'
    | 'grant_unverifiable';
}

/** The response to a request that a guard refuses. */
export interface Refusal {
  /** HTTP status. */
  readonly status: 401 | 403 | 503;
  /** Headers by name: `WWW-Authenticate` with 401 and `scope_insufficient`, `Retry-After` with 503. */
  readonly headers: Readonly<Record<string, string>>;
  /** Body, to be sent as JSON. */
  readonly body: RefusalBody;
}

/**
 * A guard refused a request. The error contains the whole response, ready to be sent, and nothing
 * that the caller sent.
 *
 * | `status` | `body.error_code`          | what happened                                                       | header             |
 * | -------- | -------------------------- | ------------------------------------------------------------------- | ------------------ |
 * | 401      | `credentials_missing`      | the request has no Authorization header                             | `WWW-Authenticate` |
 * | 401      | `credentials_invalid`      | the header contains no secret of a valid grant                      | `WWW-Authenticate` |
 * | 401      | `resource_mismatch`        | the grant is for another resource, or the guard has no `resource`   | `WWW-Authenticate` |
 * | 403      | `application_disabled`     | the grant's application is disabled for now; the caller keeps it    | none               |
 * | 403      | `application_not_accepted` | the grant is another application's                                  | none               |
 * | 403      | `scope_insufficient`       | the grant is valid, but lacks a scope                               | `WWW-Authenticate` |
 * | 503      | `grant_unverifiable`       | the grant could not be checked; `cause` is a `LatchkeyError`        | `Retry-After`      |
 *
 * `Retry-After` is what Latchkey sent, otherwise 5 seconds.
 */
export class GrantRequiredError extends Error {
  static {
    keepName(GrantRequiredError, 'GrantRequiredError');
  }

  /** `GrantRequiredError`. */
  declare name: 'GrantRequiredError';
  /** HTTP status of the response. */
  readonly status: Refusal['status'];
  /** Headers of the response. */
  readonly headers: Refusal['headers'];
  /** Body of the response, to be sent as JSON. */
  readonly body: RefusalBody;

  /**
   * Creates an error. The guards do this themselves.
   *
   * @param refusal - the response
   * @param cause - the `LatchkeyError` because of which the grant was refused, or not checked
   */
  constructor(refusal: Refusal, cause?: unknown) {
    super(refusal.body.error_description, cause === undefined ? undefined : { cause });
    this.status = refusal.status;
    this.headers = refusal.headers;
    this.body = refusal.body;
  }

  /**
   * Creates the response, for a handler that returns a `Response`.
   *
   * @returns a new response each time
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
    return new Response(JSON.stringify(this.body), this);
  }
}

/** What the challenges of a guard are made of. None of it has a character that needs escaping. */
export interface Challenges {
  /** The name of what is guarded. */
  realm: string;
  /** The required scope tokens. */
  tokens: readonly string[];
  /** What a client without a grant needs (RFC 9728, section 5.1); undefined for no resource. */
  resource: { metadata: string; scopes: readonly string[] } | undefined;
}

/** The refusals of a guard, with challenges as in RFC 6750, section 3. */
export function refusals({ realm, tokens, resource }: Challenges) {
  const scope = tokens.join(' ');
  const offered = resource && (scope || resource.scopes.join(' '));

  function challenge(error?: 'invalid_token' | 'insufficient_scope', named = offered) {
    const parameters = { realm, error, scope: named, resource_metadata: resource?.metadata };
    const words = Object.entries(parameters).filter(([, value]) => value);
    return {
      'WWW-Authenticate': `Bearer ${words.map(([name, value]) => `${name}="${value}"`).join(', ')}`,
    };
  }

  return {
    // No error in the challenge: RFC 6750 wants none if the request had no credentials.
    missing: () =>
      refusal(401, challenge(), [
        'invalid_token',
        'credentials_missing',
        'This request has no Authorization header. Send "Authorization: Bearer <grant secret>", with the secret of a grant.',
      ]),

    // The same for every cause, so that nobody can find out which secrets have existed.
    invalid: () =>
      refusal(401, challenge('invalid_token'), [
        'invalid_token',
        'credentials_invalid',
        'The Authorization header contains no valid grant secret. Check that the secret is complete. If the grant was revoked, let the user link the account again.',
      ]),

    mismatched: () =>
      refusal(401, challenge('invalid_token'), [
        'invalid_token',
        'resource_mismatch',
        'This grant is not for this resource. Let the user link the account for it, and send the secret of that grant.',
      ]),

    // Without a challenge: RFC 6750 has no word for this.
    disabled: (cause: unknown) =>
      refusal(
        403,
        {},
        [
          'unauthorized_client',
          'application_disabled',
          'The application of this grant is disabled for now. Nothing is lost: keep the grant, and try again later.',
        ],
        cause,
      ),

    notAccepted: () =>
      refusal(403, {}, [
        'unauthorized_client',
        'application_not_accepted',
        'This grant belongs to an application that this server does not accept. Send the secret of a grant of an application that it accepts.',
      ]),

    // A client asks for what the challenge names, and for nothing else: it would lose what it has.
    insufficient: (held: readonly string[]) =>
      refusal(403, challenge('insufficient_scope', [...new Set([...held, ...tokens])].join(' ')), [
        'insufficient_scope',
        'scope_insufficient',
        `The grant lacks a scope that this request needs: ${scope}. Let the user link the account again, with these scopes and those of the grant.`,
      ]),

    unverifiable: (retryAfter: number = RETRY_AFTER_SECONDS, cause: unknown) =>
      refusal(
        503,
        { 'Retry-After': String(retryAfter) },
        [
          'temporarily_unavailable',
          'grant_unverifiable',
          'The grant could not be checked, so nothing was done. Try again after the number of seconds in Retry-After.',
        ],
        cause,
      ),
  };
}

function refusal(
  status: Refusal['status'],
  headers: Record<string, string>,
  [error, error_code, error_description]: [
    RefusalBody['error'],
    RefusalBody['error_code'],
    RefusalBody['error_description'],
  ],
  cause?: unknown,
): GrantRequiredError {
  return new GrantRequiredError(
    {
      status,
      headers: {
        'Content-Type': 'application/json; charset=UTF-8',
        'Cache-Control': 'no-store',
        ...headers,
      },
      body: { error, error_description, error_code },
    },
    cause,
  );
}
