import { DomainError } from '@latchkey/domain/domain-error';
import type { RefusalRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import { openSqliteStore } from '@latchkey/store-sqlite/sqlite-store';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRefusalKeeper, MAX_QUEUED, type NewRefusal } from './refusal-keeper.ts';

const DAY = 86_400_000;

let store: Store;
const time = Date.UTC(2026, 10, 21);
const clock = () => time;

beforeEach(async () => {
  // The token buckets use performance.now().
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  store = await openSqliteStore({ path: ':memory:', clock });
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
  account_id: null,
  grant_id: null,
  key_id: null,
  address: null,
  ...members,
});

/** A keeper over a store, and what it logs. */
function keeperOver(store: Pick<Store, 'keepRefusals'>, days = 30) {
  const log: { msg: string; dropped?: number }[] = [];
  const logger = pino({}, { write: (line) => void log.push(JSON.parse(line)) });
  const keeper = createRefusalKeeper(store, { clock, days, log: logger });
  const keep = (refusal: NewRefusal, isProven = refusal.by !== null) =>
    keeper.keep(refusal, isProven);
  return { log, keeper: { ...keeper, keep } };
}

function flood(
  keeper: ReturnType<typeof keeperOver>['keeper'],
  count: number,
  of: (number: number) => Partial<NewRefusal>,
  isProven = true,
): void {
  for (let number = 0; number < count; number++) keeper.keep(aRefusal(of(number)), isProven);
}

const kept = (request_id = 'of-a-test') =>
  store.findRefusals({ request_id }, { limit: 10_000, before: null });

test('a refusal is in the store after a second, and is kept for the days that are set', async () => {
  const { keeper } = keeperOver(store, 7);
  keeper.keep(aRefusal());
  expect(await kept()).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  vi.useRealTimers();
  await vi.waitFor(
    async () => {
      expect(await kept()).toMatchObject([{ ...aRefusal(), at: time, expires_at: time + 7 * DAY }]);
    },
    { timeout: 30_000 },
  );
});

test('0 days keeps nothing', async () => {
  const { keeper, log } = keeperOver(store, 0);
  const isWithinLimits = Array.from({ length: 200 }, () => keeper.keep(aRefusal()));
  await keeper.flush();
  expect(await kept()).toEqual([]);
  expect(log).toEqual([]);
  expect(isWithinLimits.indexOf(false)).toBe(100);
});

test('a flood is cut down, and the number of dropped refusals is logged once', async () => {
  const { keeper, log } = keeperOver(store);
  for (let number = 0; number < 100_000; number++) {
    keeper.keep(aRefusal({ address: `192.0.2.${number % 256}` }));
  }
  await keeper.flush();
  expect(await kept()).toHaveLength(500);
  expect(log).toMatchObject([
    { msg: 'too many refusals; the dropped ones are only in the log', dropped: 99_500 },
  ]);

  // Authenticated callers still have room; anonymous ones get 2 a second.
  keeper.keep(aRefusal({ request_id: 'known', by: 'application' }));
  vi.advanceTimersByTime(10_000);
  for (let number = 0; number < 1_000; number++) {
    keeper.keep(aRefusal({ request_id: 'later', address: `198.51.100.${number % 256}` }));
  }
  await keeper.flush();
  expect(await kept('known')).toHaveLength(1);
  expect(await kept('later')).toHaveLength(20);
});

// Regression: one stranger's batch used up what was kept for everybody.
test('a flood from one address leaves room for the refusals of others', async () => {
  const { keeper } = keeperOver(store);
  for (let number = 0; number < 100_000; number++) {
    keeper.keep(aRefusal({ request_id: 'flood', address: '192.0.2.1' }));
    keeper.keep(aRefusal({ request_id: 'loop', by: 'application', application_id: 'a' }));
  }
  keeper.keep(aRefusal({ request_id: 'other', address: '192.0.2.2' }));
  keeper.keep(aRefusal({ request_id: 'another', by: 'application', application_id: 'b' }));
  await keeper.flush();
  expect(await kept('other')).toHaveLength(1);
  expect(await kept('another')).toHaveLength(1);
});

test('a flood in the names of public applications leaves room for the refusals of others', async () => {
  const { keeper } = keeperOver(store);
  const ofPublic = (number: number) => ({
    ...{ by: 'application' as const, application_id: `public ${number % 10}` },
    address: `192.0.2.${number % 256}`,
  });
  flood(keeper, 10_000, ofPublic, false);
  keeper.keep(aRefusal({ request_id: 'other', by: 'application', application_id: 'a' }));
  await keeper.flush();
  expect(await kept()).toHaveLength(500);
  expect(await kept('other')).toHaveLength(1);
});

test('a flood from one user leaves room for the application that has asked', async () => {
  const { keeper } = keeperOver(store);
  flood(keeper, 1_000, () => ({ by: 'user', application_id: 'a', account_id: 'one' }));
  keeper.keep(aRefusal({ request_id: 'application', by: 'application', application_id: 'a' }));
  keeper.keep(aRefusal({ request_id: 'other', by: 'user', application_id: 'a', account_id: 'b' }));
  await keeper.flush();
  expect(await kept()).toHaveLength(100);
  expect(await kept('application')).toHaveLength(1);
  expect(await kept('other')).toHaveLength(1);
});

test('a flood from many users and addresses leaves room for applications', async () => {
  const { keeper } = keeperOver(store);
  flood(keeper, 10_000, (number) => ({ address: `192.0.2.${number % 10}` }), false);
  flood(keeper, 10_000, (number) => ({
    ...{ by: 'user', application_id: 'a', account_id: `user ${number % 10}` },
  }));
  keeper.keep(aRefusal({ request_id: 'application', by: 'application', application_id: 'a' }));
  await keeper.flush();
  expect(await kept()).toHaveLength(1_000);
  expect(await kept('application')).toHaveLength(1);
});

test('a flood from one key of an operator leaves room for other keys, and for the application that it is about', async () => {
  const { keeper } = keeperOver(store);
  const ofOperator = { by: 'operator', application_id: 'a' } as const;
  for (let number = 0; number < 1_000; number++) {
    keeper.keep(aRefusal({ request_id: 'loop', ...ofOperator, key_id: 'one' }));
    keeper.keep(aRefusal({ request_id: 'loop', by: 'operator', key_id: 'one' }));
  }
  keeper.keep(aRefusal({ request_id: 'another key', ...ofOperator, key_id: 'two' }));
  keeper.keep(aRefusal({ request_id: 'no key', by: 'operator' }));
  keeper.keep(aRefusal({ request_id: 'application', by: 'application', application_id: 'a' }));
  await keeper.flush();
  expect(await kept('loop')).toHaveLength(100);
  for (const id of ['another key', 'no key', 'application']) {
    expect(await kept(id), id).toHaveLength(1);
  }
});

test('a bounded number is queued while the store is away, and written when it is back', async () => {
  let away = true;
  const { keeper, log } = keeperOver({
    async keepRefusals(refusals) {
      if (away) throw new DomainError('store_unavailable');
      await store.keepRefusals(refusals);
    },
  });
  for (let hour = 0; hour < 10; hour++) {
    for (let number = 0; number < 1_000; number++) {
      const by = number % 2 === 0 ? null : 'application';
      keeper.keep(
        aRefusal({ by, application_id: `${number}`, address: `192.0.2.${number % 256}` }),
      );
    }
    await keeper.flush();
    vi.advanceTimersByTime(3_600_000);
  }
  const failures = log.filter(({ msg }) => msg.startsWith('could not write'));
  expect(failures).toHaveLength(1);

  away = false;
  await keeper.flush();
  expect(await kept()).toHaveLength(MAX_QUEUED);
  const dropped = log.reduce((sum, line) => sum + (line.dropped ?? 0), 0);
  expect(dropped).toBe(10_000 - MAX_QUEUED);
});

test('a refusal that the store can’t take does not block the others', async () => {
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
    { msg: 'could not write refusals; retrying' },
    { msg: 'too many refusals; the dropped ones are only in the log', dropped: 1 },
  ]);
});

test('refusals that arrive during a write are written after it', async () => {
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
  await vi.waitFor(() => expect(batches).toHaveLength(2), { timeout: 30_000 });
  release();
  await flushed;
  expect(batches.map((batch) => batch.map(({ request_id }) => request_id))).toEqual([
    ['of-a-test'],
    ['second'],
  ]);
});
