import { test } from 'vitest';

test('that fails', () => {
  throw new Error('as it should');
});
