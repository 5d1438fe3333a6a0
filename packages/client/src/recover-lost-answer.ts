import type { FullGrant } from '@latchkey/schema';
import {
  CodeAlreadyUsedError,
  GrantNotFoundError,
  LatchkeyError,
  OutcomeUnknownError,
} from './errors.ts';
import type { WithResponse } from './response-details.ts';

type Grant = WithResponse<FullGrant>;

/**
 * Recovers the grant of a code whose conversion ended without a certain response, in at most three
 * requests: convert again, recover, and convert once more if the recovery finds no grant.
 *
 * The requests run one after the other. If two recoveries ran at the same time, the later one would
 * replace the secret that the earlier one returned.
 *
 * @param firstError - the error of the conversion; thrown if the recovery fails, with the errors that
 *   followed in `recovery_errors`
 */
export async function recoverLostAnswer(
  firstError: LatchkeyError,
  convert: () => Promise<Grant>,
  recover: (grantId: string) => Promise<Grant>,
): Promise<Grant> {
  const recovery_errors: LatchkeyError[] = [];
  const attempt = async (request: () => Promise<Grant>) => {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof LatchkeyError)) throw error;
      recovery_errors.push(error);
      return error;
    }
  };

  let outcome: Grant | LatchkeyError = firstError;
  // This error says to recover the grant that it names before converting again.
  if (!(outcome instanceof OutcomeUnknownError)) outcome = await attempt(convert);
  if (outcome instanceof CodeAlreadyUsedError || outcome instanceof OutcomeUnknownError) {
    const { grant_id } = outcome;
    const mayNotExist = outcome instanceof OutcomeUnknownError;
    outcome = await attempt(() => recover(grant_id));
    if (mayNotExist && outcome instanceof GrantNotFoundError) outcome = await attempt(convert);
  }
  if (!(outcome instanceof LatchkeyError)) return outcome;
  throw Object.assign(firstError, { recovery_errors });
}
