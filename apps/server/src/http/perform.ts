import type { ErrorCode } from '@latchkey/schema';
import { DomainError } from '../domain-error.ts';
import type { Limits } from '../limits/limits.ts';
import type { OperationCall } from '../operations/operation-call.ts';
import type { Exchange } from './exchange.ts';

/**
 * What is left of a call once its caller and its input are known: through whatever stands around the
 * calls, within the limits of the application, the rules.
 *
 * @param input - validated
 * @throws RateLimited, or the DomainError of the operation
 */
export function perform(
  exchange: Exchange,
  limits: Limits,
  call: OperationCall,
  input: object,
): Promise<object> {
  return exchange.perform(call.operation, () =>
    withinLimits(limits, call.caller_application_id, () => call.perform(input)),
  );
}

/** Where a limit refuses, nothing is done. */
async function withinLimits(
  limits: Limits,
  application_id: string | null,
  work: () => Promise<object>,
): Promise<object> {
  // The operator's requests have no limit.
  if (application_id === null) return work();
  limits.requests.count(application_id);
  try {
    return await work();
  } catch (error) {
    if (error instanceof DomainError && WRONG_CODE.has(error.code)) {
      // Whoever sends made-up codes to an application's callback must not use up its requests.
      limits.requests.giveBack(application_id);
      limits.exchanges.count(application_id);
    }
    throw error;
  }
}

// What a stranger's code comes to. `code_already_used` is the application's own repetition.
const WRONG_CODE: ReadonlySet<ErrorCode> = new Set(['code_not_found', 'code_expired']);
