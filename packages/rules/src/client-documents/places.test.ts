import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createPlaces, NoPlace } from './places.ts';

function createWork() {
  const ends: (() => void)[] = [];
  const work = () =>
    new Promise<void>((resolve) => {
      ends.push(resolve);
    });
  return { ends, work };
}

test('has places together, too, and gives a free one to who can use it', async () => {
  const places = createPlaces({ perHost: 2, together: 3, patience: 30_000 });
  const { ends, work } = createWork();
  const hosts = ['a', 'a', 'b', 'a', 'c'];
  const all = hosts.map((host) => places.within(host, work));
  await turn();
  expect(ends).toHaveLength(3);
  // The fourth waits for a place of its host, so the fifth goes before it.
  ends[2]?.();
  await turn();
  expect(ends).toHaveLength(4);
  ends[0]?.();
  await turn();
  expect(ends).toHaveLength(5);
  for (const end of ends) end();
  await Promise.all(all);
});

test('who has waited too long has no place later', async () => {
  const places = createPlaces({ perHost: 1, patience: 1 });
  const { ends, work } = createWork();
  const first = places.within('a', work);
  await expect(places.within('a', work)).rejects.toThrow(NoPlace);
  ends[0]?.();
  await first;
  const failing = places.within('a', () => Promise.reject(new Error('broken')));
  await expect(failing).rejects.toThrow('broken');
  expect(await places.within('a', async () => 'free again')).toBe('free again');
});
