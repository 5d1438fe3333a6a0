import type { Clock } from '@latchkey/domain/clock';
import { noCounts } from '@latchkey/rules/summary/counts';
import { countLiveGrants } from '@latchkey/rules/summary/live-grants';
import { summarize } from '@latchkey/rules/summary/summary';
import { openSqliteStore } from '@latchkey/store-sqlite/sqlite-store';
import { granted } from '@latchkey/store-suite/records';
import { expect, test, vi } from 'vitest';

const HOUR = 3_600_000;

async function openAt(time: { now: number }) {
  const clock: Clock = () => time.now;
  const store = await openSqliteStore({ path: ':memory:', clock });
  const parts = vi.spyOn(store, 'countActiveGrants');
  const kept = vi.spyOn(store, 'keepLiveCount');
  const count = () =>
    countLiveGrants(store, {
      ...{ clock, counts: noCounts },
      async inSteps(step) {
        while (await step(1_000));
      },
    });
  return { store, clock, parts, kept, count };
}

test('are counted if the last count is nearly a day old', async () => {
  const time = { now: Date.UTC(2026, 10, 21) };
  const { store, kept, count } = await openAt(time);
  for (const [hours, counted] of [
    [0, 1],
    [22, 1],
    [2, 2],
    [1, 2],
    // The clock was set back.
    [-72, 3],
  ] as const) {
    time.now += hours * HOUR;
    await count();
    expect(kept).toHaveBeenCalledTimes(counted);
  }
  await store.close();
});

test('are null in a summary before the first count, and no summary counts them', async () => {
  const time = { now: Date.UTC(2026, 10, 21) };
  const { store, clock, parts, count } = await openAt(time);
  await granted(store);
  const service = { store, clock, counts: noCounts, events: null };
  const live = async () => (await summarize(service, 24)).grants.live;
  expect(await live()).toBeNull();
  await count();
  expect(await live()).toBe(1);
  const counted = parts.mock.calls.length;
  time.now += 9 * 24 * HOUR;
  expect(await live()).toBe(1);
  expect(parts).toHaveBeenCalledTimes(counted);
  await store.close();
});
