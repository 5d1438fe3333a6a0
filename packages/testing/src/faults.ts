import type { OperationName } from '@latchkey/schema';
import { DomainError, type Intercept, RateLimited } from '@latchkey/server';

/** How a call can be made to fail. Either way nothing is done for it. */
export type Failure = 'store_unavailable' | 'rate_limited';

// What the Retry-After of the service's own limit says at the end of its window, the shortest wait.
const LIMIT = { limit: 1_000, seconds: 60 };
const UNTIL_NEXT_WINDOW_MS = 1_000;

const failures: Record<Failure, () => DomainError> = {
  store_unavailable: () => new DomainError('store_unavailable'),
  rate_limited: () => new RateLimited('requests', LIMIT, UNTIL_NEXT_WINDOW_MS),
};

interface Fault {
  /** Undefined for any. */
  operation: OperationName | undefined;
  happen: Intercept;
}

/** What is to happen to calls to come, each to one: the first that it fits. */
export class Faults {
  readonly #waiting: Fault[] = [];

  readonly intercept: Intercept = (call, perform) => {
    const index = this.#waiting.findIndex(
      ({ operation = call.operation }) => operation === call.operation,
    );
    const [fault] = index === -1 ? [] : this.#waiting.splice(index, 1);
    return fault === undefined ? perform() : fault.happen(call, perform);
  };

  dropAnswer(operation?: OperationName): void {
    this.#waiting.push({
      operation,
      async happen(call, perform) {
        try {
          return await perform();
        } finally {
          // Only now: what was to be done is done, or refused, and nobody hears of it.
          call.breakConnection();
        }
      },
    });
  }

  fail(failure: Failure, operation?: OperationName): void {
    this.#waiting.push({
      operation,
      async happen() {
        throw failures[failure]();
      },
    });
  }
}
