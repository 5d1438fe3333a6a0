import type { TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Whether `npm test` left the test out: see {@link slow}. */
    leftOut?: boolean;
  }
}

// Three sizes of a run. `npm test` is for every day. `npm run test:all` adds the slow tests: the
// files named `*.slow.test.ts`, and tests with the option `slow`. `npm run test:long` runs the same
// tests with more rounds.

/** Whether this is `npm run test:long`. */
export const isLong = process.env.TEST_LONG === '1';

/** Whether this run leaves nothing out. */
export const runsAll = isLong || process.env.TEST_ALL === '1';

/** Options of a test or a suite that `npm test` leaves out: `test('…', slow, () => …)`. */
export const slow: TestOptions = runsAll ? {} : { skip: true, meta: { leftOut: true } };

/** The size of a test (rounds, connections, milliseconds): the second one is for `npm run test:long`. */
export function longer(short: number, long: number): number {
  return isLong ? long : short;
}
