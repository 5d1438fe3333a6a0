import { test } from 'vitest';
import { failAtFirst } from './attempts.ts';

// It fails beside the test, and outside of any.
test('whose promise nobody waits for', async () => {
  void Promise.resolve().then(() => failAtFirst('outside', 1));
  await new Promise((resolve) => setImmediate(resolve));
});
