import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../store/open-store.ts';
import type { Store } from '../store/store.ts';
import { type AddToShared, SharedLimit } from './limit.ts';
import { RateLimited } from './rate-limited.ts';
import { StoreRateLimiter } from './store-rate-limiter.ts';

// Several processes on one store, whose sharing is done when the test says.

let store: Store;
let now = Date.now();

beforeEach(async () => {
  store = await openStore('file::memory:', { clock: () => now });
});
afterEach(() => store.close());

/** A limit as one process has it. */
function processWith(limit: number, seconds = 60) {
  const shared = new StoreRateLimiter(store, () => now, 'requests', { limit, seconds });
  const written: [string, number][] = [];
  const refusals: [string, boolean][] = [];
  let underWay = 0;
  let mostUnderWay = 0;
  let away = false;
  const addToShared: AddToShared = async (key, points) => {
    if (away) throw new Error('away');
    written.push([key, points]);
    mostUnderWay = Math.max(mostUnderWay, ++underWay);
    return shared.penalty(key, points).finally(() => {
      underWay -= 1;
    });
  };
  const own = new SharedLimit(
    'requests',
    { limit, seconds },
    () => now,
    addToShared,
    (...refusal) => {
      refusals.push(refusal);
    },
  );
  /** How many of so many are let through. */
  const passes = (count: number, key = 'a') => {
    let passed = 0;
    for (let i = 0; i < count; i++) {
      try {
        own.count(key);
        passed += 1;
      } catch (error) {
        expect(error).toBeInstanceOf(RateLimited);
      }
    }
    return passed;
  };
  return {
    own,
    written,
    refusals,
    passes,
    share: (which: 'due' | 'all' = 'due') => own.share(which),
    mostUnderWay: () => mostUnderWay,
    setAway(is: boolean) {
      away = is;
    },
  };
}

describe('a process', () => {
  test('lets through what the limit says, until the window ends', () => {
    const { own, passes } = processWith(5);
    expect(passes(9)).toBe(5);
    expect(passes(9, 'b')).toBe(5);
    now += 20_001;
    expect(() => own.check('a')).toThrow(expect.objectContaining({ limit: 5, reset: 40 }));
    now += 39_998;
    expect(() => own.check('a')).toThrow(expect.objectContaining({ reset: 1 }));
    now += 1;
    expect(() => own.check('a')).not.toThrow();
    expect(passes(9)).toBe(5);
  });

  test('tells of each refusal, and which is the first of a window', () => {
    const { passes, refusals } = processWith(1);
    const [first, later]: [string, boolean][] = [
      ['a', true],
      ['a', false],
    ];
    passes(3);
    expect(refusals).toEqual([first, later]);
    now += 60_000;
    passes(2);
    expect(refusals).toEqual([first, later, first]);
  });

  test('takes back what it is given back, once it is shared too', async () => {
    const { own, passes, share, written } = processWith(5);
    expect(passes(4)).toBe(4);
    own.giveBack('a');
    expect(passes(9)).toBe(2);
    await share();
    own.giveBack('a');
    own.giveBack('a');
    await share();
    expect(written).toEqual([
      ['a', 5],
      ['a', -2],
    ]);
    expect(passes(9)).toBe(2);
  });

  test('forgets the oldest keys of many', () => {
    const { own, passes } = processWith(1);
    for (let key = 0; key <= 20_000; key++) passes(1, `${key}`);
    expect(() => own.check('0')).not.toThrow();
    expect(() => own.check('1')).toThrow(RateLimited);
    expect(() => own.check('20000')).toThrow(RateLimited);
  });
});

describe('processes', () => {
  test('refuse what they have counted together', async () => {
    const [one, other] = [processWith(10), processWith(10)];
    expect([one.passes(6), other.passes(4)]).toEqual([6, 4]);
    await one.share();
    await other.share();
    expect(other.passes(9)).toBe(0);
    // It shared when there was less; with its next it hears of the rest.
    expect(one.passes(1)).toBe(1);
    await one.share();
    expect(one.passes(9)).toBe(0);
    now += 60_000;
    expect([one.passes(1), other.passes(1)]).toEqual([1, 1]);
  });

  test('hear of a limit that was reached with the first of a key', async () => {
    const before = processWith(1_000);
    before.passes(1_000);
    await before.share();
    now += 15_000;
    const after = processWith(1_000);
    expect(after.passes(3)).toBe(3);
    await after.share();
    // The window is the shared one, not one of its own.
    expect(() => after.own.check('a')).toThrow(expect.objectContaining({ reset: 45 }));
  });

  test('with another window have counts of their own', async () => {
    const [minute, hour] = [processWith(1), processWith(1, 3_600)];
    hour.passes(1);
    await hour.share();
    expect(minute.passes(1)).toBe(1);
    await minute.share();
    expect(() => minute.own.check('a')).toThrow(expect.objectContaining({ reset: 60 }));
  });
});

describe('the store', () => {
  test('is told of a key at first, of each hundredth of its limit, and of its last', async () => {
    const { passes, share, written } = processWith(1_000);
    for (const count of [1, 9, 1, 0, 985, 3]) {
      passes(count);
      await share();
      await share();
    }
    expect(passes(5)).toBe(1);
    await share();
    expect(passes(5)).toBe(0);
    await share();
    expect(written.map(([, points]) => points)).toEqual([1, 10, 985, 4]);
  });

  test('is told of all at the end', async () => {
    const { passes, share, written } = processWith(1_000);
    passes(1);
    await share();
    passes(3);
    await share('all');
    expect(written).toEqual([
      ['a', 1],
      ['a', 3],
    ]);
  });

  test('is not flooded by a flood of keys, and told of the heaviest first', async () => {
    const { passes, share, written, mostUnderWay } = processWith(1_000);
    for (let key = 0; key < 600; key++) passes(1 + key, `${key}`);
    await share();
    expect(written).toHaveLength(512);
    expect(written[0]).toEqual(['599', 600]);
    expect(written.at(-1)).toEqual(['88', 89]);
    expect(mostUnderWay()).toBe(32);
    await share();
    expect(written).toHaveLength(600);
  });

  test('may be away: what was counted meanwhile is shared later', async () => {
    const [one, other] = [processWith(5), processWith(5)];
    one.setAway(true);
    expect(one.passes(4)).toBe(4);
    await expect(one.share()).rejects.toThrow('away');
    expect(one.passes(9)).toBe(1);
    one.setAway(false);
    await one.share();
    expect(one.written).toEqual([['a', 5]]);
    other.passes(1);
    await other.share();
    expect(other.passes(9)).toBe(0);
  });
});
