import { setImmediate as nextTick } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type GatherOptions, gather } from './gather.ts';

/** Commands that end when the test says so. */
function heldCommands(options: GatherOptions<string> = { most: 100 }) {
  const runs: { asked: readonly string[]; end(): void; fail(): void }[] = [];
  const ask = gather<string, string>((asked) => {
    const { promise, resolve, reject } = Promise.withResolvers<string[]>();
    runs.push({
      asked,
      end: () => resolve(asked.map((one) => `found ${one}`)),
      fail: () => reject(new Error(`failed ${asked.join()}`)),
    });
    return promise;
  }, options);
  return { ask, runs, askedOfRuns: () => runs.map(({ asked }) => asked.join()) };
}

test('those who ask in one tick get each its own from one command', async () => {
  const { ask, runs, askedOfRuns } = heldCommands();
  const asked = ['a', 'b', 'a'].map(ask);
  await nextTick();
  runs[0]?.end();
  expect(await Promise.all(asked)).toEqual(['found a', 'found b', 'found a']);
  expect(askedOfRuns()).toEqual(['a,b,a']);
});

test('whoever asks while two commands are under way waits for the next one', async () => {
  const { ask, runs, askedOfRuns } = heldCommands();
  const first = ask('a');
  await nextTick();
  void ask('b');
  await nextTick();
  // The same too: what is under way may have read it before this was asked for.
  const third = ask('a');
  const fourth = ask('c');
  await nextTick();
  expect(askedOfRuns()).toEqual(['a', 'b']);
  runs[0]?.end();
  expect(await first).toBe('found a');
  await nextTick();
  runs[2]?.end();
  expect([await third, await fourth]).toEqual(['found a', 'found c']);
  expect(askedOfRuns()).toEqual(['a', 'b', 'a,c']);
});

test('calls that are to be apart share no command', async () => {
  const { ask, runs, askedOfRuns } = heldCommands({ most: 100, apart: (asked) => asked });
  const asked = ['a', 'b', 'a'].map(ask);
  await nextTick();
  for (const run of runs) run.end();
  expect(await Promise.all(asked)).toEqual(['found a', 'found b', 'found a']);
  expect(askedOfRuns()).toEqual(['a,b', 'a']);
});

test('a failure is that of its own command', async () => {
  const { ask, runs } = heldCommands();
  const [first, second] = [ask('a'), nextTick().then(() => ask('b'))];
  await nextTick();
  await nextTick();
  const third = ask('c');
  runs[0]?.fail();
  await expect(first).rejects.toThrow('failed a');
  await nextTick();
  for (const run of runs.slice(1)) run.end();
  expect([await second, await third]).toEqual(['found b', 'found c']);
});

test('a failure of one is not that of the others', async () => {
  const ask = gather<string, string>(
    async (asked) =>
      asked.map((one) => (one === 'bad' ? Promise.reject(new Error('refused')) : one)),
    { most: 100 },
  );
  const asked = ['a', 'bad', 'b'].map(ask);
  await expect(asked[1]).rejects.toThrow('refused');
  expect([await asked[0], await asked[2]]).toEqual(['a', 'b']);
});

test('those that hang hold up no other', async () => {
  const { ask, runs, askedOfRuns } = heldCommands();
  for (const one of ['a', 'b']) {
    void ask(one);
    await nextTick();
  }
  const third = ask('c');
  await expect.poll(askedOfRuns).toEqual(['a', 'b', 'c']);
  runs[2]?.end();
  expect(await third).toBe('found c');
});

test('a command has as many calls as it may', async () => {
  const { ask, runs } = heldCommands();
  const asked = Array.from({ length: 150 }, (_, index) => ask(String(index)));
  await nextTick();
  for (const run of runs) run.end();
  const expected = asked.map((_, index) => `found ${index}`);
  expect(await Promise.all(asked)).toEqual(expected);
  expect(runs.map(({ asked }) => asked.length)).toEqual([100, 50]);
});
