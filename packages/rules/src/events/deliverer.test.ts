import { randomUUID } from 'node:crypto';
import type { ClaimedDelivery, Store } from '@latchkey/store/store';
import pino from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Sender, SentAttempt } from './attempt.ts';
import { createDeliverer, type DelivererOptions } from './deliverer.ts';

/** One that watches until the test is over. */
function watching(store: Partial<Store>, options: Partial<DelivererOptions>) {
  const deliverer = createDeliverer(store as Store, {
    clock: () => 5_000,
    keys: () => ({ current: 'key', previous: null }),
    sender: { send: async () => null, close() {} },
    userAgent: '',
    log: pino({ enabled: false }),
    onAttempt() {},
    onDisabled() {},
    onError: (error) => expect.fail(String(error)),
    ...options,
  });
  deliverer.watch();
  const close = () => deliverer.close(AbortSignal.abort());
  onTestFinished(close);
  return { close };
}

test('a busy process leaves what has just become due to the others, for a second', async () => {
  let busy = true;
  const looks: number[] = [];
  const makeDeliveries = vi.fn(async () => false);
  const store: Partial<Store> = {
    makeDeliveries,
    listDueEndpoints: async ({ now }) => {
      looks.push(now);
      return [];
    },
  };
  watching(store, { isBusy: () => busy });
  await vi.waitFor(() => expect(looks.length).toBeGreaterThanOrEqual(2));
  expect(new Set(looks)).toEqual(new Set([4_000]));
  // Once, at the start.
  expect(makeDeliveries.mock.calls.length).toBeLessThan(looks.length);
  busy = false;
  await vi.waitFor(() => expect(looks.at(-1)).toBe(5_000));
});

/** An endpoint that works, with more to tell than is claimed at once. */
function manyDue({ type = 'grant.created', application_id = null as string | null } = {}) {
  const id = randomUUID();
  const released: string[] = [];
  const store: Partial<Store> = {
    makeDeliveries: async () => false,
    listDueEndpoints: async ({ except }) =>
      except.includes(id) ? [] : [{ id, isDoubtful: false }],
    claimDeliveries: async ({ claim, endpoints: [endpoint] }) =>
      Array.from(
        { length: endpoint?.most ?? 0 },
        () =>
          ({
            delivery: {
              ...{ id: randomUUID(), claim, type, event_id: randomUUID(), tries: 0, body: '{}' },
            },
            endpoint: {
              ...{ id, application_id, url: 'https://app.example/' },
              ...{ secret_version: 1, overlap_until: null },
            },
          }) as ClaimedDelivery,
      ),
    endTries: async () => [],
    releaseDeliveries: async (_claim, ids) => {
      released.push(...ids);
    },
  };
  const tries: ((attempt: SentAttempt | null) => void)[] = [];
  const send: Sender['send'] = ({ signal }) =>
    new Promise((resolve) => {
      tries.push(resolve);
      signal.addEventListener('abort', () => resolve(null), { once: true });
    });
  return { store, released, tries, options: { isBusy: () => false, sender: { send, close() {} } } };
}

const timedOut: SentAttempt = {
  ...{ at: 1, duration_ms: 1, result: 'timeout', status_code: null, retry_after_seconds: null },
};

test('what is claimed ahead is due again for all, once a try fails', async () => {
  const { store, released, tries, options } = manyDue();
  watching(store, options);
  await vi.waitFor(() => expect(tries).toHaveLength(4));
  expect(released).toEqual([]);
  tries[0]?.(timedOut);
  await vi.waitFor(() => expect(released.length).toBeGreaterThanOrEqual(12));
});

test('names of accounts that an application is told of do not wait behind the claim', async () => {
  // The host may always know them.
  for (const [application_id, expected] of [
    [randomUUID(), 12],
    [null, 0],
  ] as const) {
    const { store, released, options } = manyDue({ type: 'account.updated', application_id });
    const before: number[] = [];
    const makeDeliveries = async () => before.push(released.length) > 9;
    watching({ ...store, makeDeliveries }, options);
    await vi.waitFor(() => expect(before.length).toBeGreaterThan(1));
    // At the next look.
    expect(before[1]).toBe(expected);
  }
});

test('what is claimed ahead is due again for all, after a second', async () => {
  const { store, released, tries, options } = manyDue();
  watching(store, options);
  await vi.waitFor(() => expect(tries).toHaveLength(4));
  await vi.waitFor(() => expect(released.length).toBeGreaterThanOrEqual(12), 10_000);
  expect(tries).toHaveLength(4);
});

test('a shutdown gives back what is claimed ahead, and what it cuts', async () => {
  const { store, released, tries, options } = manyDue();
  const { close } = watching(store, options);
  await vi.waitFor(() => expect(tries).toHaveLength(4));
  await close();
  expect(released).toHaveLength(16);
  expect(tries).toHaveLength(4);
});
