import { expect, test } from 'vitest';
import { checkRoom } from './disk-room.ts';

const [MB, GB] = [1e6, 1e9];

test.each([
  [99 * MB, MB, 'problem'],
  [101 * MB, MB, 'warning'],
  [2 * GB, 3 * GB, 'warning'],
  [4 * GB, 3 * GB, 'ok'],
])('%d bytes free beside a database of %d bytes: %s', (free, database, level) => {
  expect(checkRoom('The disk', { free, database }).level).toBe(level);
});
