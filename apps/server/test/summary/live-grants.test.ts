import { noCounts } from '@latchkey/rules/summary/counts';
import { countLiveGrants } from '@latchkey/rules/summary/live-grants';
import { openSqliteStore } from '@latchkey/store-sqlite/sqlite-store';
import { expect, test, vi } from 'vitest';

const HOUR = 3_600_000;

test('are counted if the last count is nearly a day old', async () => {
  const time = { now: Date.UTC(2026, 10, 21) };
  const clock = () => time.now;
  const store = await openSqliteStore({ path: ':memory:', clock });
  const parts = vi.spyOn(store, 'countActiveGrants');
  for (const [hours, counted] of [
    [0, 1],
    [22, 1],
    [2, 2],
    [1, 2],
    // The clock was set back.
    [-72, 3],
  ] as const) {
    time.now += hours * HOUR;
    await countLiveGrants(store, {
      ...{ clock, counts: noCounts },
      async inSteps(step) {
        while (await step(1_000));
      },
    });
    expect(parts).toHaveBeenCalledTimes(counted);
  }
  await store.close();
});
