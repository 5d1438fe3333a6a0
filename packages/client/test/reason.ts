import { expect } from 'vitest';

/** The reason a promise rejects with. Fails the test if it resolves. */
export const reason = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('The promise must reject.'),
    (error) => error,
  );
