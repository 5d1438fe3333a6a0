import type { FullGrant } from '@latchkey/schema';
import {
  CodeAlreadyUsedError,
  GrantNotFoundError,
  LatchkeyError,
  OutcomeUnknownError,
} from './errors.ts';
import type { WithRequestId } from './request-id.ts';

type Grant = WithRequestId<FullGrant>;

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
  convert: () => Promise<Grant>,
  recover: (grantId: string) => Promise<Grant>,
): Promise<Grant> {
  const recoveryErrors: LatchkeyError[] = [];
  const attempt = async (request: () => Promise<Grant>) => {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof LatchkeyError)) throw error;
      recoveryErrors.push(error);
      return error;
    }
  };

  let outcome: Grant | LatchkeyError = loss;
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
