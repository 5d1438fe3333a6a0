import type { OperationName } from '@latchkey/schema';
import { DomainError, type Intercept, RateLimited } from '@latchkey/server/testing';

/** The failures that a test can cause. With each, the server does nothing for the call. */
export type Failure = 'store_unavailable' | 'rate_limited';

// A limit one second before the end of its window, so that Retry-After is the shortest wait.
const LIMIT = { limit: 1_000, seconds: 60 };
const UNTIL_NEXT_WINDOW_MS = 1_000;

const failures: Record<Failure, () => DomainError> = {
  store_unavailable: () => new DomainError('store_unavailable'),
  rate_limited: () => new RateLimited('requests', LIMIT, UNTIL_NEXT_WINDOW_MS),
};

interface Fault {
  /** Undefined for any operation. */
  operation: OperationName | undefined;
  intercept: Intercept;
}

/** The faults for coming calls. Each fault applies once, to the first call that matches. */
export class Faults {
  readonly #waiting: Fault[] = [];

  readonly intercept: Intercept = (call, proceed) => {
    const index = this.#waiting.findIndex(
      ({ operation = call.operation }) => operation === call.operation,
    );
    const [fault] = index === -1 ? [] : this.#waiting.splice(index, 1);
    return fault === undefined ? proceed() : fault.intercept(call, proceed);
  };

  dropAnswer(operation?: OperationName): void {
    this.#waiting.push({
      operation,
      async intercept(call, proceed) {
        try {
          return await proceed();
        } finally {
          // Only after the work, or its refusal: the caller must not see the outcome.
          call.breakConnection();
        }
      },
    });
  }

  fail(failure: Failure, operation?: OperationName): void {
    this.#waiting.push({
      operation,
      async intercept() {
        throw failures[failure]();
      },
    });
  }
}
