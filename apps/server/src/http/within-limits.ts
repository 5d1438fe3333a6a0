import type { ErrorCode } from '@latchkey/schema';
import { DomainError } from '../domain-error.ts';
import type { Limits } from '../limits/limits.ts';
import type { AnyCaller } from '../operations/caller.ts';

/**
 * Does what a request is for, once its caller and its input are known, within the limits of the
 * application that it comes from. Where one of them refuses, nothing is done.
 *
 * @throws RateLimited, or what the work throws
 */
export async function withinLimits<Output>(
  limits: Limits,
  caller: AnyCaller,
  work: () => Promise<Output>,
): Promise<Output> {
  const application_id = applicationOf(caller);
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

/** Whose request it is; null for the operator's, which have no limit. */
function applicationOf(caller: AnyCaller): string | null {
  if (caller === 'operator') return null;
  return 'grant' in caller ? caller.grant.application_id : caller.application.id;
}
