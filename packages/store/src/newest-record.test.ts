import { expect, test } from 'vitest';
import { checkNewestRecord } from './newest-record.ts';

test.each([
  [null, 'ok'],
  [1_000, 'ok'],
  [1_001, 'warning'],
  [60_001, 'problem'],
])('a record that is %j ms ahead: %s', (ahead, level) => {
  const newest = ahead === null ? null : 5_000 + ahead;
  expect(checkNewestRecord(newest, () => 5_000).level).toBe(level);
});
