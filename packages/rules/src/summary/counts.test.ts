import { DomainError } from '@latchkey/domain/domain-error';
import type { HourCounts } from '@latchkey/store/records';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCounts } from './counts.ts';

const HOUR = 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function countsAt(time: { now: number }) {
  const written: HourCounts[] = [];
  const errors: unknown[] = [];
  const store = {
    isAway: false,
    async addCounts(addition: HourCounts) {
      if (store.isAway) throw new DomainError('store_unavailable');
      written.push(addition);
    },
  };
  const onError = (error: unknown) => void errors.push(error);
  return {
    counts: createCounts(store, { clock: () => time.now, onError }),
    store,
    written,
    errors,
  };
}

test('are added up, and written once a minute', async () => {
  const time = { now: 5 * HOUR + 1 };
  const { counts, written } = countsAt(time);
  counts.add('grants:created');
  counts.add('grants:created');
  counts.add('revoked:user', 3);
  counts.add('revoked:host', 0);
  time.now = 6 * HOUR;
  counts.add('refused:code_expired:-');
  await vi.advanceTimersByTimeAsync(59_999);
  expect(written).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  const expected = [
    { hour: 5 * HOUR, counts: { 'grants:created': 2, 'revoked:user': 3 } },
    { hour: 6 * HOUR, counts: { 'refused:code_expired:-': 1 } },
  ];
  expect(written).toEqual(expected);
  await vi.advanceTimersByTimeAsync(120_000);
  await counts.flush();
  expect(written).toEqual(expected);
});

test('stay while the database is away, those of the newest 48 hours', async () => {
  const time = { now: 0 };
  const { counts, store, written, errors } = countsAt(time);
  store.isAway = true;
  for (let hour = 0; hour < 60; hour += 1) {
    time.now = hour * HOUR;
    counts.add('grants:created');
    await vi.advanceTimersByTimeAsync(60_000);
  }
  await counts.flush();
  expect(errors).toHaveLength(61);
  store.isAway = false;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(written.map(({ hour }) => hour / HOUR).sort((one, other) => one - other)).toEqual(
    Array.from({ length: 48 }, (_, index) => 12 + index),
  );
  expect(written[0]?.counts).toEqual({ 'grants:created': 1 });
});

test('are in what is written or in what is not, and never in both', async () => {
  const { counts, store, written } = countsAt({ now: 0 });
  const sum = (hours: readonly HourCounts[]) =>
    hours.reduce((all, { counts }) => all + (counts['grants:created'] ?? 0), 0);
  const write = Promise.withResolvers<void>();
  const { addCounts } = store;
  store.addCounts = async (addition) => {
    await write.promise;
    await addCounts(addition);
  };
  counts.add('grants:created');
  const flushed = counts.flush();
  const read = counts.withUnwritten(async () => {
    counts.add('grants:created');
    return sum(written);
  });
  // Another one is to be written while it is read.
  const next = counts.flush();
  write.resolve();
  const found = await read;
  expect([found.written, sum(found.unwritten)]).toEqual([1, 1]);
  await Promise.all([flushed, next]);
  expect(sum(written)).toBe(2);
});
