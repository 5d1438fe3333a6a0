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
  const close = (cut = AbortSignal.abort()) => deliverer.close(cut);
  onTestFinished(() => close());
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
      except.includes(id) ? [] : [{ id, application_id, standing: 'working' }],
    claimDeliveries: async ({ claim, endpoints: [endpoint] }) =>
      Array.from(
        { length: endpoint?.most ?? 0 },
        () =>
          ({
            delivery: {
              ...{
                id: randomUUID(),
                claim,
                type,
                event_id: randomUUID(),
                tries: 0,
                body: '{"data":{}}',
              },
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

const delivered: SentAttempt = { ...timedOut, result: 'delivered', status_code: 204 };

/** The first try is delivered at once, so the next ones are claimed ahead. */
async function claimedAhead(of?: Parameters<typeof manyDue>[0]) {
  const due = manyDue(of);
  const { close } = watching(due.store, due.options);
  await vi.waitFor(() => expect(due.tries).toHaveLength(4));
  due.tries[0]?.(delivered);
  await vi.waitFor(() => expect(due.tries).toHaveLength(5));
  expect(due.released).toEqual([]);
  return { ...due, close };
}

test('what is claimed ahead is due again for all, once a try fails', async () => {
  const { released, tries } = await claimedAhead();
  tries[1]?.(timedOut);
  await vi.waitFor(() => expect(released).toHaveLength(12));
});

test.each([
  ['an application', randomUUID()],
  ['the host', null],
])('while %s is told names, no more is claimed than can begin', async (_, application_id) => {
  const type = 'account.updated';
  const { store, tries, released, options } = manyDue({ type, application_id });
  const asked: number[] = [];
  const claimDeliveries: Store['claimDeliveries'] = (claim) => {
    asked.push(...claim.endpoints.map(({ most }) => most));
    return store.claimDeliveries?.(claim) ?? Promise.resolve([]);
  };
  watching({ ...store, claimDeliveries }, options);
  await vi.waitFor(() => expect(tries).toHaveLength(4));
  tries[0]?.(delivered);
  await vi.waitFor(() => expect(tries).toHaveLength(5));
  expect(asked).toEqual([4, 1]);
  expect(released).toEqual([]);
});

test('what is claimed ahead is due again for all, after a second', async () => {
  const { released, tries } = await claimedAhead();
  await vi.waitFor(() => expect(released.length).toBeGreaterThanOrEqual(12), 10_000);
  expect(tries).toHaveLength(5);
});

test('a shutdown gives back what is claimed ahead, and what it cuts', async () => {
  const { released, tries, close } = await claimedAhead();
  await close();
  expect(released).toHaveLength(12 + 4);
  expect(tries).toHaveLength(5);
});

test('a shutdown gives back what is claimed ahead where nothing is cut', async () => {
  const { released, tries, close } = await claimedAhead();
  const closing = close(new AbortController().signal);
  for (const end of tries) end(delivered);
  await closing;
  expect(released).toHaveLength(12);
  expect(tries).toHaveLength(5);
});

test('the end of a try that is no delivery keeps its place until it is written down', async () => {
  const { store, tries, options } = manyDue();
  const written = Promise.withResolvers<[]>();
  const endTries = vi.fn(() => written.promise);
  const makeDeliveries = vi.fn(async () => false);
  watching({ ...store, endTries, makeDeliveries }, { ...options, lookEvery: 1 });
  await vi.waitFor(() => expect(tries).toHaveLength(4));
  for (const end of tries) end(timedOut);
  await vi.waitFor(() => expect(endTries).toHaveBeenCalled());
  const looks = makeDeliveries.mock.calls.length;
  await vi.waitFor(() => expect(makeDeliveries.mock.calls.length).toBeGreaterThan(looks + 5));
  expect(tries).toHaveLength(4);
  written.resolve([]);
  await vi.waitFor(() => expect(tries.length).toBeGreaterThan(4));
});
