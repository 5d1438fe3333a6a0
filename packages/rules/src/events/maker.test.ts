import { expect, test } from 'vitest';
import { createMaker } from './maker.ts';

/** Processes over one database, each with a clock of its own. */
function processes(offsets: readonly number[]) {
  let time = 10_000;
  let lease: { holder: string; until: number } | null = null;
  let hasEvents = true;
  const made: string[] = [];
  const asked: string[] = [];
  const makers = offsets.map((offset, index) => {
    const holder = `process ${index}`;
    const store = {
      async makeDeliveries(_: number, mayMake?: () => Promise<boolean>) {
        if (!hasEvents || !(await mayMake?.())) return false;
        made.push(holder);
        return false;
      },
      async takeLease({ now, lasts }: { now: number; lasts: number }) {
        asked.push(holder);
        if (lease !== null && lease.holder !== holder && lease.until > now) return false;
        lease = { holder, until: now + lasts };
        return true;
      },
      async releaseLease() {
        if (lease?.holder === holder) lease = null;
      },
    };
    const clock = () => time + offset;
    return createMaker(store, { clock, holder, every: 100, everyIfBusy: 1_000, now: () => time });
  });
  return {
    ...{ makers, made, asked },
    hear(events: boolean) {
      hasEvents = events;
    },
    /** All look every 250 ms, those in `busy` as busy ones. */
    async look(times: number, { except = [] as number[], busy = [] as number[] } = {}) {
      made.length = 0;
      asked.length = 0;
      for (let nth = 0; nth < times; nth++) {
        time += 250;
        for (const [index, maker] of makers.entries()) {
          if (!except.includes(index)) await maker.make(busy.includes(index));
        }
      }
    },
  };
}

test('a lease that has lapsed is given back too, since the clock of another process may be behind', async () => {
  const { look, makers, made, hear } = processes([5_000, 0]);
  await look(4, { except: [1] });
  hear(false);
  await look(12);
  hear(true);
  await makers[0]?.giveBack();
  await look(1, { except: [0] });
  expect(made).toEqual(['process 1']);
});

test.each([0, 5_000, -5_000])(
  'one of three makes deliveries, with a clock %i ms ahead',
  async (ahead) => {
    const { look, made, asked, makers } = processes([0, ahead, 0]);
    await look(40);
    const [by = ''] = made.slice(-8);
    expect(new Set(made.slice(-8))).toEqual(new Set([by]));
    expect(made.slice(-8)).toHaveLength(8);
    // It is not taken at each look.
    expect(asked.filter((holder) => holder === by).length).toBeLessThanOrEqual(12);
    expect(makers.filter((maker) => maker.isOthers())).toHaveLength(2);
  },
);

test('another goes on within three seconds where the holder was killed, and at once where it ends', async () => {
  const { look, made, makers } = processes([0, 0]);
  await look(8);
  expect(new Set(made)).toEqual(new Set(['process 0']));
  await look(12, { except: [0] });
  expect(new Set(made)).toEqual(new Set(['process 1']));
  await makers[1]?.giveBack();
  await look(3, { except: [1] });
  expect(made).not.toEqual([]);
});

test('a busy one leaves it to one that has time, and does it if nobody else does', async () => {
  const { look, made, makers } = processes([0, 0]);
  await look(4);
  await look(40, { busy: [0] });
  expect(new Set(made.slice(-20))).toEqual(new Set(['process 1']));
  await look(40, { busy: [0, 1] });
  expect(made.length).toBeGreaterThanOrEqual(5);
  // Alone, it goes on as fast as if it were not busy, and tries at times whether another one is there.
  await look(160, { busy: [0], except: [1] });
  expect(made.length).toBeGreaterThan(140);
  expect(makers[0]?.isAlone()).toBe(true);
  await look(12, { except: [0] });
  await look(4, { busy: [0] });
  expect(makers[0]?.isAlone()).toBe(false);
  expect(new Set(made)).toEqual(new Set(['process 1']));
});

test('takes no lease while there is nothing to make', async () => {
  const { look, hear, asked } = processes([0, 0]);
  hear(false);
  await look(20);
  expect(asked).toEqual([]);
});
