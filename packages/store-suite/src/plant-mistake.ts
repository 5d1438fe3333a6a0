import type * as Operations from '@latchkey/store/operations/operations';
import { vi } from 'vitest';
import { withCallbacks } from './between-steps.ts';
import { withMistake } from './planted-mistakes.ts';

// Set up before the tests of a store where PLANTED_MISTAKE names a mistake. A test that calls back between the steps of
// an operation imports it.
vi.mock('@latchkey/store/operations/operations', async (load) => {
  const { operations } = (await load()) as typeof Operations;
  return {
    operations: ((db, ...rest) =>
      operations(
        withCallbacks(withMistake(db, process.env.PLANTED_MISTAKE ?? null)),
        ...rest,
      )) satisfies typeof operations,
  };
});
