import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DomainError } from '../domain-error.ts';
import { openStore } from '../store/open-store.ts';
import type { RefusalRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { createRefusalKeeper, MOST_WAITING, type NewRefusal } from './refusal-keeper.ts';

const DAY = 86_400_000;

let store: Store;
const time = Date.UTC(2026, 10, 21);
const clock = () => time;

beforeEach(async () => {
  // The limits are told by the time that passes, not by a clock that can be set.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  store = await openStore('file::memory:', { clock });
});
afterEach(async () => {
  vi.useRealTimers();
  await store.close();
});

const aRefusal = (members: Partial<NewRefusal> = {}): NewRefusal => ({
  request_id: 'of-a-test',
  operation: 'grants.convert',
  error_code: 'code_not_found',
  reason: 'code_unknown',
  by: null,
  application_id: null,
  grant_id: null,
  address: null,
  ...members,
});

/** A keeper over the store, with its log, and with what it hands to the store. */
function keeperOver(store: Pick<Store, 'keepRefusals'>, days = 30) {
  const log: { msg: string; dropped?: number }[] = [];
  const logger = pino({}, { write: (line) => void log.push(JSON.parse(line)) });
  return { log, keeper: createRefusalKeeper(store, { clock, days, log: logger }) };
}

const kept = (request_id = 'of-a-test') => store.findRefusals({ request_id }, 10_000);

test('what is refused is in the store a second later, for as many days as set', async () => {
  const { keeper } = keeperOver(store, 7);
  keeper.keep(aRefusal());
  expect(await kept()).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  vi.useRealTimers();
  await vi.waitFor(async () => {
    expect(await kept()).toMatchObject([{ ...aRefusal(), at: time, expires_at: time + 7 * DAY }]);
  });
});

test('with 0 days nothing is kept', async () => {
  const { keeper, log } = keeperOver(store, 0);
  keeper.keep(aRefusal());
  await keeper.flush();
  expect(await kept()).toEqual([]);
  expect(log).toEqual([]);
});

test('of a flood some are kept, and the rest is counted and said once', async () => {
  const { keeper, log } = keeperOver(store);
  for (let number = 0; number < 100_000; number++) keeper.keep(aRefusal());
  await keeper.flush();
  expect(await kept()).toHaveLength(500);
  expect(log).toMatchObject([
    { msg: 'too many refusals to keep; these are in the log alone', dropped: 99_500 },
  ]);

  // Who is known still has room, and strangers get theirs back by and by.
  keeper.keep(aRefusal({ request_id: 'known', by: 'application' }));
  vi.advanceTimersByTime(10_000);
  for (let number = 0; number < 1_000; number++) keeper.keep(aRefusal({ request_id: 'later' }));
  await keeper.flush();
  expect(await kept('known')).toHaveLength(1);
  expect(await kept('later')).toHaveLength(20);
});

test('while the store is away no more than so many wait, and they are written when it is back', async () => {
  let away = true;
  const { keeper, log } = keeperOver({
    async keepRefusals(refusals) {
      if (away) throw new DomainError('store_unavailable');
      await store.keepRefusals(refusals);
    },
  });
  for (let hour = 0; hour < 10; hour++) {
    for (let number = 0; number < 1_000; number++) {
      keeper.keep(aRefusal({ by: number % 2 === 0 ? null : 'application' }));
    }
    await keeper.flush();
    vi.advanceTimersByTime(3_600_000);
  }
  const failures = log.filter(({ msg }) => msg.startsWith('could not keep'));
  expect(failures).toHaveLength(1);

  away = false;
  await keeper.flush();
  expect(await kept()).toHaveLength(MOST_WAITING);
  const dropped = log.reduce((sum, line) => sum + (line.dropped ?? 0), 0);
  expect(dropped).toBe(10_000 - MOST_WAITING);
});

test('what the store can’t take does not stand in the way of the rest', async () => {
  const { keeper, log } = keeperOver({
    async keepRefusals(refusals) {
      if (refusals.some(({ request_id }) => request_id === 'bad')) throw new TypeError('A fault.');
      await store.keepRefusals(refusals);
    },
  });
  keeper.keep(aRefusal({ request_id: 'bad' }));
  await keeper.flush();
  keeper.keep(aRefusal());
  await keeper.flush();
  expect(await kept()).toHaveLength(1);
  expect(log).toMatchObject([
    { msg: 'could not keep refusals; it will be tried again' },
    { msg: 'too many refusals to keep; these are in the log alone', dropped: 1 },
  ]);
});

test('what comes while a batch is being written is written after it', async () => {
  const batches: (readonly RefusalRecord[])[] = [];
  let release = () => {};
  const { keeper } = keeperOver({
    async keepRefusals(refusals) {
      batches.push(refusals);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    },
  });
  keeper.keep(aRefusal());
  vi.advanceTimersByTime(1_000);
  keeper.keep(aRefusal({ request_id: 'second' }));
  const flushed = keeper.flush();
  release();
  await vi.waitFor(() => expect(batches).toHaveLength(2));
  release();
  await flushed;
  expect(batches.map((batch) => batch.map(({ request_id }) => request_id))).toEqual([
    ['of-a-test'],
    ['second'],
  ]);
});
