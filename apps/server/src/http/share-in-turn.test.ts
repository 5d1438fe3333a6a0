import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { endOfTurn } from './end-of-turn.ts';
import { shareInTurn } from './share-in-turn.ts';

/** Work that notes what it was asked for, and tells which time it was. */
function counted() {
  const asked: string[] = [];
  const share = shareInTurn(async (key) => {
    const number = asked.push(key);
    await setImmediate();
    return number;
  });
  return { asked, share };
}

test('those who waited for the end of a turn share what is the same', async () => {
  const { asked, share } = counted();
  const ask = async (key: string) => {
    await endOfTurn();
    return share(key);
  };
  expect(await Promise.all([ask('a'), ask('b'), ask('a'), ask('a')])).toEqual([1, 2, 1, 1]);
  expect(asked).toEqual(['a', 'b']);
});

test('who comes later has it done anew, though the first is still under way', async () => {
  const { share } = counted();
  const first = share('a');
  // The next thing that the event loop does, at the earliest.
  const second = new Promise((resolve) => process.nextTick(() => resolve(share('a'))));
  const third = setImmediate().then(() => share('a'));
  expect(await Promise.all([first, second, third])).toEqual([1, 2, 3]);
});

test('what fails fails for those who share it, and is tried again', async () => {
  let tried = 0;
  const share = shareInTurn(() => Promise.reject(new Error(`Failed ${++tried}.`)));
  const both = await Promise.allSettled([share('a'), share('a')]);
  expect(both).toEqual([
    { status: 'rejected', reason: new Error('Failed 1.') },
    { status: 'rejected', reason: new Error('Failed 1.') },
  ]);
  await setImmediate();
  await expect(share('a')).rejects.toThrow('Failed 2.');
});
