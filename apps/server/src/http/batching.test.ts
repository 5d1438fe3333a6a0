import { setImmediate } from 'node:timers/promises';
import { inRequest, requestScope } from '@latchkey/domain/request-scope';
import { expect, test } from 'vitest';
import { inBatchesByTick, inBatchesByTimer, sharePerTick } from './batching.ts';

/** Work that records its keys and returns how often it ran. */
function counted() {
  const asked: string[] = [];
  const share = sharePerTick(async (key) => {
    const number = asked.push(key);
    await setImmediate();
    return number;
  });
  return { asked, share };
}

test('requests of one tick share the work for the same key', async () => {
  const { asked, share } = counted();
  const numbers: number[] = [];
  const ask = inBatchesByTick(async (key: string) => {
    numbers.push(await share(key));
  });
  await Promise.all([ask('a'), ask('b'), ask('a'), ask('a')]);
  expect(numbers.toSorted()).toEqual([1, 1, 1, 2]);
  expect(asked).toEqual(['a', 'b']);
});

test('a later request starts the work again, although the first is still running', async () => {
  const { share } = counted();
  const first = share('a');
  // The earliest that the event loop can run anything else.
  const second = new Promise((resolve) => process.nextTick(() => resolve(share('a'))));
  const third = setImmediate().then(() => share('a'));
  expect(await Promise.all([first, second, third])).toEqual([1, 2, 3]);
});

test('what the work has seen, each request that shares it has seen, and no other', async () => {
  const seen: unknown[] = [];
  const share = sharePerTick(async () => void seen.push(requestScope()?.moment));
  const ask = (key: string) =>
    inRequest(async () => {
      // Older than the work: what is shared must not be as old.
      const before = requestScope()?.moment;
      await share(key);
      const moment = requestScope()?.moment;
      expect(moment).not.toBe(before);
      return moment;
    });
  const [a, again, b] = await Promise.all([ask('a'), ask('a'), ask('b')]);
  await setImmediate();
  const later = await ask('a');
  expect(again).toBe(a);
  expect(new Set([a, b, later]).size).toBe(3);
  expect(seen.map((moment) => [a, b, later].indexOf(moment as object))).toEqual([0, 1, 2]);
});

test('a failure reaches everyone who shares it, and is not kept', async () => {
  let tried = 0;
  const share = sharePerTick(() => Promise.reject(new Error(`Failed ${++tried}.`)));
  const both = await Promise.allSettled([share('a'), share('a')]);
  expect(both).toEqual([
    { status: 'rejected', reason: new Error('Failed 1.') },
    { status: 'rejected', reason: new Error('Failed 1.') },
  ]);
  await setImmediate();
  await expect(share('a')).rejects.toThrow('Failed 2.');
});

test('a request that is alone is handled at once', async () => {
  const batch = inBatchesByTimer((work: () => Promise<void>) => work());
  const done: string[] = [];
  const first = batch(async () => void done.push('first'));
  expect(done).toEqual(['first']);
  await first;
  const second = batch(async () => void done.push('second'));
  expect(done).toEqual(['first', 'second']);
  await second;
});

test('requests that arrive while another is handled are handled together', async () => {
  const batch = inBatchesByTimer((work: () => Promise<void>) => work());
  const begun: string[] = [];
  let finish = () => {};
  const alone = batch(() => new Promise((resolve) => (finish = resolve)));
  const others = ['a', 'b'].map((name) =>
    batch(async () => {
      begun.push(name);
      await null;
      expect(begun).toEqual(['a', 'b']);
    }),
  );
  expect(begun).toEqual([]);
  await Promise.all(others);
  finish();
  await alone;
});

test('a failure reaches the caller and ends the handling', async () => {
  const batch = inBatchesByTimer((work: () => Promise<void>) => work());
  await expect(batch(() => Promise.reject(new Error('Failed.')))).rejects.toThrow('Failed.');
  let begun = false;
  const next = batch(async () => {
    begun = true;
  });
  expect(begun).toBe(true);
  await next;
});
