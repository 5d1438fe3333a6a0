import { noCounts } from '@latchkey/rules/summary/counts';
import { createLiveGrants } from '@latchkey/rules/summary/live-grants';
import { openSqliteStore } from '@latchkey/store-sqlite/sqlite-store';
import { expect, test, vi } from 'vitest';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

async function openAt(time: { now: number }) {
  const clock = () => time.now;
  const store = await openSqliteStore({ path: ':memory:', clock });
  const parts = vi.spyOn(store, 'countActiveGrants');
  const liveGrants = createLiveGrants(store, { clock, counts: noCounts, onError() {} });
  const close = async () => {
    await liveGrants.close();
    await store.close();
  };
  return { store, liveGrants, parts, close };
}

test('are counted soon after the start, and again within a day', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const time = { now: Date.UTC(2026, 10, 21) };
  const { store, liveGrants, parts, close } = await openAt(time);
  liveGrants.watch();
  await vi.waitFor(async () => expect(await store.findLiveCount()).not.toBeNull());
  for (const [hours, counted] of [
    [22, 1],
    [2, 2],
    [1, 2],
    // The clock was set back.
    [-72, 3],
  ] as const) {
    time.now += hours * HOUR;
    await vi.advanceTimersByTimeAsync(600_000);
    await vi.waitFor(() => expect(parts).toHaveBeenCalledTimes(counted));
    await vi.waitFor(async () => {
      const live = await store.findLiveCount();
      expect(Math.abs(time.now - (live?.counted_at ?? 0))).toBeLessThan(DAY);
    });
  }
  vi.useRealTimers();
  await close();
});

test('are counted for a summary only if the last count is a day old', async () => {
  const time = { now: Date.UTC(2026, 10, 21) };
  const { liveGrants, parts, close } = await openAt(time);
  // Several share a count.
  await Promise.all([liveGrants.keepFresh(), liveGrants.keepFresh()]);
  expect(parts).toHaveBeenCalledTimes(1);
  time.now += DAY - 1;
  await liveGrants.keepFresh();
  expect(parts).toHaveBeenCalledTimes(1);
  time.now += 1;
  await liveGrants.keepFresh();
  expect(parts).toHaveBeenCalledTimes(2);
  await close();
});
