import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { timestamp } from './fields.ts';
import { formatTimestamp } from './timestamp.ts';

it.each([
  [Date.UTC(2026, 10, 21, 2, 15, 30, 123), '2026-11-21T02:15:30.123+00:00'],
  [0, '1970-01-01T00:00:00.000+00:00'],
  [Date.UTC(9999, 11, 31, 23, 59, 59, 999), '9999-12-31T23:59:59.999+00:00'],
])('writes %d with milliseconds and the offset', (milliseconds, text) => {
  expect(formatTimestamp(milliseconds)).toBe(text);
  expect(timestamp.parse(text)).toBe(text);
  expect(Date.parse(text)).toBe(milliseconds);
});

it('comes back to the millisecond, and sorts as the time does', () => {
  const time = fc.integer({ min: Date.parse('0000-01-01T00:00Z'), max: Date.UTC(10_000, 0) - 1 });
  fc.assert(
    fc.property(time, time, (one, other) => {
      const text = formatTimestamp(one);
      expect(timestamp.parse(text)).toBe(text);
      expect(Date.parse(text)).toBe(one);
      expect(text < formatTimestamp(other)).toBe(one < other);
    }),
    { numRuns: longer(500, 20_000) },
  );
});
