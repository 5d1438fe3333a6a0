import { GrantRequiredError, type Refusal, type RefusalBody } from './grant-required-error.ts';

// The SDK's longest wait between two tries. Where Latchkey names a time, that one counts.
const RETRY_AFTER_SECONDS = 5;

/**
 * The refusals of a guard, with their challenges as RFC 6750, section 3, writes them.
 *
 * @param realm - goes into a quoted string, and has no character that would need escaping there
 * @param tokens - the scope tokens that are asked for
 */
export function refusals(realm: string, tokens: readonly string[]) {
  const challenge = `Bearer realm="${realm}"`;
  const scope = tokens.join(' ');

  return {
    // Without an error code: a caller that sent nothing may just ask how to authenticate.
    missing: () =>
      refusal(401, { 'WWW-Authenticate': challenge }, [
        'invalid_token',
        'credentials_missing',
        'This request has no Authorization header. Send "Authorization: Bearer <grant secret>", with the grant_secret of a grant.',
      ]),

    // The same for whatever is wrong: nobody finds out which secrets have existed.
    invalid: () =>
      refusal(401, { 'WWW-Authenticate': `${challenge}, error="invalid_token"` }, [
        'invalid_token',
        'credentials_invalid',
        'The Authorization header has no live grant in it. Check that its secret is complete. A revoked grant does not come back: let the user link the account again.',
      ]),

    insufficient: () =>
      refusal(
        403,
        { 'WWW-Authenticate': `${challenge}, error="insufficient_scope", scope="${scope}"` },
        [
          'insufficient_scope',
          'scope_insufficient',
          `The grant lacks a scope that this request needs: ${scope}. Let the user link the account with it.`,
        ],
      ),

    unverifiable: (retryAfter: number = RETRY_AFTER_SECONDS, cause: unknown) =>
      refusal(
        503,
        { 'Retry-After': String(retryAfter) },
        [
          'temporarily_unavailable',
          'grant_unverifiable',
          'The grant could not be checked, so nothing was done. Wait for the number of seconds in Retry-After, then try again.',
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
