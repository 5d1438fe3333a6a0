import type { Store } from '@latchkey/store/store';
import { openSqliteStore } from '@latchkey/store-sqlite/sqlite-store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addressKey, SharedLimit } from './limit.ts';
import { RateLimited } from './rate-limited.ts';

// Several processes share one store. The tests decide when they share their counts.

let store: Store;
let now = Date.now();

beforeEach(async () => {
  store = await openSqliteStore({ path: ':memory:', clock: () => now });
});
afterEach(() => store.close());

/** The limit in one process. */
function processWith(limit: number, seconds = 60) {
  const written: [string, number][] = [];
  const refusals: [string, boolean][] = [];
  let pending = 0;
  let mostPending = 0;
  let unavailable = false;
  const addToCount: Store['addToCount'] = async (addition) => {
    if (unavailable) throw new Error('unavailable');
    written.push([addition.key.split(':')[1] ?? '', addition.points]);
    mostPending = Math.max(mostPending, ++pending);
    return store.addToCount(addition).finally(() => {
      pending -= 1;
    });
  };
  const own = new SharedLimit(
    'requests',
    { limit, seconds },
    { store: { addToCount }, clock: () => now },
    (...refusal) => {
      refusals.push(refusal);
    },
  );
  /** Counts so many and returns how many of them the limit allowed. */
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
    mostPending: () => mostPending,
    setUnavailable(is: boolean) {
      unavailable = is;
    },
  };
}

describe('a process', () => {
  test('allows as many as the limit until the window ends', () => {
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

  test('reports each refusal and marks the first of a window', () => {
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

  test('reduces the count by what is given back, before and after sharing', async () => {
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

  test('ends no window later than one window from now, if its clock was ahead', async () => {
    const { own, passes, share } = processWith(5);
    now += 365 * 86_400_000;
    expect(passes(5)).toBe(5);
    await share();
    now -= 365 * 86_400_000;
    expect(() => own.check('a')).toThrow(expect.objectContaining({ reset: 60 }));
    now += 60_000;
    expect(() => own.check('a')).not.toThrow();
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
  test('refuse by their common count', async () => {
    const [one, other] = [processWith(10), processWith(10)];
    expect([one.passes(6), other.passes(4)]).toEqual([6, 4]);
    await one.share();
    await other.share();
    expect(other.passes(9)).toBe(0);
    // It shared before the other process did. It learns the rest with its next count.
    expect(one.passes(1)).toBe(1);
    await one.share();
    expect(one.passes(9)).toBe(0);
    now += 60_000;
    expect([one.passes(1), other.passes(1)]).toEqual([1, 1]);
  });

  test('learn with the first count of a key that its limit is reached', async () => {
    const before = processWith(1_000);
    before.passes(1_000);
    await before.share();
    now += 15_000;
    const after = processWith(1_000);
    expect(after.passes(3)).toBe(3);
    await after.share();
    // The window is the shared one, not one that this process started.
    expect(() => after.own.check('a')).toThrow(expect.objectContaining({ reset: 45 }));
  });

  test('with different windows count separately', async () => {
    const [minute, hour] = [processWith(1), processWith(1, 3_600)];
    hour.passes(1);
    await hour.share();
    expect(minute.passes(1)).toBe(1);
    await minute.share();
    expect(() => minute.own.check('a')).toThrow(expect.objectContaining({ reset: 60 }));
  });
});

describe('the store', () => {
  test('gets the first count of a key, each hundredth of its limit, and the last', async () => {
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

  test('gets all counts at the end', async () => {
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

  test('gets a bounded number of writes from a flood of keys, the largest counts first', async () => {
    const { passes, share, written, mostPending } = processWith(1_000);
    for (let key = 0; key < 600; key++) passes(1 + key, `${key}`);
    await share();
    expect(written).toHaveLength(512);
    expect(written[0]).toEqual(['599', 600]);
    expect(written.at(-1)).toEqual(['88', 89]);
    expect(mostPending()).toBe(32);
    await share();
    expect(written).toHaveLength(600);
  });

  test('gets the counts of an outage once it is back', async () => {
    const [one, other] = [processWith(5), processWith(5)];
    one.setUnavailable(true);
    expect(one.passes(4)).toBe(4);
    await expect(one.share()).rejects.toThrow('unavailable');
    expect(one.passes(9)).toBe(1);
    one.setUnavailable(false);
    await one.share();
    expect(one.written).toEqual([['a', 5]]);
    other.passes(1);
    await other.share();
    expect(other.passes(9)).toBe(0);
  });
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:50123', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:201', '192.0.2.1'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
  ['[2001:db8::1]:443', '2001:db8:0:0::/64'],
  ['2001:0db8:000a:b::', '2001:db8:a:b::/64'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
  ['_hidden', 'unknown'],
  ['a.example', 'unknown'],
  ['', 'unknown'],
  [undefined, 'unknown'],
])('%s is counted as %s', (address, key) => {
  expect(addressKey(address)).toBe(key);
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8:a:b::1', '2001:db8:a::/48'],
  [undefined, 'unknown'],
])('%s is of the site %s', (address, site) => {
  expect(addressKey(addressKey(address), 48)).toBe(site);
});
