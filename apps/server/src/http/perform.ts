import type { ErrorCode } from '@latchkey/schema';
import { DomainError } from '../domain-error.ts';
import type { Limits } from '../limits/limits.ts';
import type { AnyCaller } from '../operations/caller.ts';
import type { Operation } from '../operations/operation.ts';
import type { Service } from '../service.ts';

/**
 * What is left of a request once its caller and its input are known: the limits of the application,
 * then the rules. Where a limit refuses, nothing is done.
 *
 * @throws RateLimited, or the DomainError of the operation
 */
export async function perform(
  operation: Operation,
  service: Service,
  limits: Limits,
  input: unknown,
  caller: AnyCaller,
): Promise<object> {
  const application_id = applicationOf(caller);
  if (application_id === null) return operation.handle(service, input, caller);
  limits.requests.count(application_id);
  try {
    return await operation.handle(service, input, caller);
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
  return 'grant' in caller ? caller.grant.application_id : caller.id;
}
