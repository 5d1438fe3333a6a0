import { readdirSync } from 'node:fs';
import { test } from 'vitest';
import { failAtFirst } from './attempts.ts';

// Fails, passes, fails.
test('that passes once alone', () => {
  const before = readdirSync(process.env.ATTEMPTS as string).length;
  failAtFirst('alternating', before === 1 ? 0 : before + 1);
});
