import { setImmediate as nextTick } from 'node:timers/promises';
import type { Moment } from '@latchkey/domain/request-scope';
import { expect, test } from 'vitest';
import { gather } from '../src/gather.ts';

/** A look-up whose runs end when the test says so. Nothing is stored under `unknown`. */
function heldLookUp() {
  const runs: { ids: string[]; moments: readonly Moment[]; end(): void; fail(): void }[] = [];
  const gathered = gather<string>((ids, moments) => {
    const { promise, resolve, reject } = Promise.withResolvers<Map<string, string>>();
    const known = ids.filter((id) => id !== 'unknown');
    const found = new Map(known.map((id) => [id, `found ${id}`]));
    runs.push({
      ids: [...ids],
      moments,
      end: () => resolve(found),
      fail: () => reject(new Error(`failed ${ids.join()}`)),
    });
    return promise;
  });
  const find = (id: string, moment: Moment = {}) => gathered(id, moment);
  return { find, runs, idsOfRuns: () => runs.map(({ ids }) => ids.join()) };
}

test('those who ask in one tick get each its own from one look-up', async () => {
  const { find, runs, idsOfRuns } = heldLookUp();
  const asked = ['a', 'unknown', 'b', 'a'].map((id) => find(id));
  await nextTick();
  runs[0]?.end();
  expect(await Promise.all(asked)).toEqual(['found a', null, 'found b', 'found a']);
  expect(idsOfRuns()).toEqual(['a,unknown,b']);
});

test('whoever asks while two look-ups are under way waits for the next one', async () => {
  const { find, runs, idsOfRuns } = heldLookUp();
  const first = find('a');
  await nextTick();
  void find('b');
  await nextTick();
  // The same id too: what is under way may have read it before this was asked for.
  const third = find('a');
  const fourth = find('c');
  await nextTick();
  expect(idsOfRuns()).toEqual(['a', 'b']);
  runs[0]?.end();
  expect(await first).toBe('found a');
  await nextTick();
  runs[2]?.end();
  expect([await third, await fourth]).toEqual(['found a', 'found c']);
  expect(idsOfRuns()).toEqual(['a', 'b', 'a,c']);
});

test('a look-up has the moments of all who asked for it', async () => {
  const { find, runs } = heldLookUp();
  const moments: Moment[] = [{ of: 'one' }, { of: 'other' }];
  const asked = moments.map((moment) => find('a', moment));
  await nextTick();
  runs[0]?.end();
  await Promise.all(asked);
  expect(runs.map((run) => run.moments)).toEqual([moments]);
});

test('a failure is that of its own look-up', async () => {
  const { find, runs } = heldLookUp();
  const [first, second] = [find('a'), nextTick().then(() => find('b'))];
  await nextTick();
  await nextTick();
  const third = find('c');
  runs[0]?.fail();
  await expect(first).rejects.toThrow('failed a');
  await nextTick();
  for (const run of runs.slice(1)) run.end();
  expect([await second, await third]).toEqual(['found b', 'found c']);
});

test('those that hang hold up no other', async () => {
  const { find, runs, idsOfRuns } = heldLookUp();
  for (const id of ['a', 'b']) {
    void find(id);
    await nextTick();
  }
  const third = find('c');
  await expect.poll(idsOfRuns).toEqual(['a', 'b', 'c']);
  runs[2]?.end();
  expect(await third).toBe('found c');
});

test('a look-up has at most 100 ids', async () => {
  const { find, runs } = heldLookUp();
  const asked = Array.from({ length: 150 }, (_, index) => find(String(index)));
  await nextTick();
  for (const run of runs) run.end();
  const expected = asked.map((_, index) => `found ${index}`);
  expect(await Promise.all(asked)).toEqual(expected);
  expect(runs.map(({ ids }) => ids.length)).toEqual([100, 50]);
});
