import { expect, test } from 'vitest';
import { checkServerClock } from './server-clock.ts';

test.each([
  [1_000, 'ok', 'agree'],
  [2_000, 'ok', 'agree'],
  [3_400, 'ok', 'agree'],
  [3_900, 'ok', 'agree'],
  [8_000, 'problem', 'is 5 s behind'],
  [-9_000, 'problem', 'is 10 s ahead of'],
])('a server at %d, asked from 1,000 to 3,000: %s', (server, level, words) => {
  expect(checkServerClock(server, 1_000, 3_000)).toMatchObject({
    level,
    found: expect.stringContaining(words),
  });
});
