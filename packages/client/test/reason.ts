import { expect } from 'vitest';

/** What a promise rejects with; fails the test where it does not reject. */
export const reason = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('It must reject.'),
    (error) => error,
  );
