import { expect, test, vi } from 'vitest';
import { createPendingCodes } from './pending-codes.ts';

const now = () => 5;

test('a store that fails has no count, and the next scrape asks again', async () => {
  const countPendingCodes = vi.fn().mockRejectedValueOnce(new Error('down')).mockResolvedValue(7);
  const count = createPendingCodes({ countPendingCodes }, now);
  expect(await count()).toBeNull();
  expect(await count()).toBe(7);
});

test('a store that is silent is not waited for, nor asked twice', async () => {
  const asked: unknown[] = [];
  const { promise, resolve } = Promise.withResolvers<number>();
  const countPendingCodes = (options: unknown) => {
    asked.push(options);
    return promise;
  };
  const count = createPendingCodes({ countPendingCodes }, now, 1);
  expect([await count(), await count()]).toEqual([null, null]);
  expect(asked).toEqual([{ now: 5, limit: 100_000 }]);
  resolve(9);
  expect(await promise).toBe(9);
  await expect.poll(count).toBe(9);
});
