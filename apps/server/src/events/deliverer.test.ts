import pino from 'pino';
import { expect, test, vi } from 'vitest';
import type { Store } from '../store/store.ts';
import { createDeliverer } from './deliverer.ts';

test('a busy process leaves what has just become due to the others, for a second', async () => {
  let busy = true;
  const looks: number[] = [];
  const makeDeliveries = vi.fn(async () => false);
  const deliverer = createDeliverer(
    {
      makeDeliveries,
      listDueEndpoints: async ({ now }) => {
        looks.push(now);
        return [];
      },
    } as Partial<Store> as Store,
    {
      clock: () => 5_000,
      isBusy: () => busy,
      keys: () => ({ current: '', previous: null }),
      sender: { send: async () => null, close() {} },
      userAgent: '',
      log: pino({ enabled: false }),
      onAttempt() {},
      onDisabled() {},
      onError() {},
    },
  );
  deliverer.watch();
  await vi.waitFor(() => expect(looks.length).toBeGreaterThanOrEqual(2));
  expect(new Set(looks)).toEqual(new Set([4_000]));
  // Once, at the start.
  expect(makeDeliveries.mock.calls.length).toBeLessThan(looks.length);
  busy = false;
  await vi.waitFor(() => expect(looks.at(-1)).toBe(5_000));
  await deliverer.close(AbortSignal.abort());
});
