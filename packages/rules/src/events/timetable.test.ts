import { expect, test } from 'vitest';
import { nextAttemptAt } from './timetable.ts';

const NOW = 1_800_000_000_000;
const at = (tries: number, options: { retryAfterSeconds?: number; random?: number } = {}) => {
  const next = nextAttemptAt(
    { type: 'grant.revoked', tries },
    { now: NOW, retryAfterSeconds: null, random: 0.5, ...options },
  );
  return next === null ? null : next - NOW;
};

test('a failed try is followed by the next of eight, a tenth earlier or later', () => {
  const minutes = [5 / 60, 5, 30, 120, 300, 600, 600];
  expect(Array.from({ length: 9 }, (_, tries) => at(tries))).toEqual([
    ...minutes.map((pause) => pause * 60_000),
    ...[null, null],
  ]);
  expect([at(1, { random: 0 }), at(1, { random: 1 })]).toEqual([270_000, 330_000]);
});

test('never earlier than the receiver asked for', () => {
  expect(at(0, { retryAfterSeconds: 600 })).toBe(600_000);
  expect(at(1, { retryAfterSeconds: 5 })).toBe(300_000);
  expect(at(7, { retryAfterSeconds: 5 })).toBeNull();
});

test('a ping has one try', () => {
  expect(
    nextAttemptAt({ type: 'ping', tries: 0 }, { now: NOW, retryAfterSeconds: null }),
  ).toBeNull();
});
