import type { FullGrant } from '@latchkey/schema';
import {
  CodeAlreadyUsedError,
  ConnectionError,
  GrantNotFoundError,
  LatchkeyError,
  OutcomeUnknownError,
  ServerError,
  UnexpectedResponseError,
} from './errors.ts';

/**
 * Whether the service may have made the grant that `convert` did not return.
 *
 * Not where the service says what became of the code. Not where the request was not sent, or was
 * turned away before it came to the service: a redirect, or a proxy's own 4xx.
 */
export function isLostAnswer(error: unknown): error is LatchkeyError {
  if (error instanceof ConnectionError) return error.maybeSent;
  if (error instanceof UnexpectedResponseError) {
    const { status = 0 } = error;
    return status < 300 || status >= 500;
  }
  return error instanceof OutcomeUnknownError || error instanceof ServerError;
}

/**
 * Gets the grant of a code whose exchange had no certain answer, in at most three requests: ask
 * again, recover, and convert once more where the recovery says that there is no grant.
 *
 * Each is made once and after the other. Of two recoveries under way at the same time, the one that
 * comes last replaces the secret that the other one returned.
 *
 * @param loss - what the exchange ended with; thrown where there is no grant in the end, with the
 *   errors that followed in `recoveryErrors`
 */
export async function recoverLostAnswer(
  loss: LatchkeyError,
  convert: () => Promise<FullGrant>,
  recover: (grantId: string) => Promise<FullGrant>,
): Promise<FullGrant> {
  const recoveryErrors: LatchkeyError[] = [];
  const attempt = async (request: () => Promise<FullGrant>) => {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof LatchkeyError)) throw error;
      recoveryErrors.push(error);
      return error;
    }
  };

  let outcome: FullGrant | LatchkeyError = loss;
  // The service named the grant already: it asks to recover that first.
  if (!(outcome instanceof OutcomeUnknownError)) outcome = await attempt(convert);
  if (outcome instanceof CodeAlreadyUsedError || outcome instanceof OutcomeUnknownError) {
    const { grant_id } = outcome;
    const mayNotExist = outcome instanceof OutcomeUnknownError;
    outcome = await attempt(() => recover(grant_id));
    if (mayNotExist && outcome instanceof GrantNotFoundError) outcome = await attempt(convert);
  }
  if (!(outcome instanceof LatchkeyError)) return outcome;
  throw Object.assign(loss, { recoveryErrors });
}
