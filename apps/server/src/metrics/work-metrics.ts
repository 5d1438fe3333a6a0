import type { Service } from '@latchkey/rules/service';
import { type Work, workKinds } from '@latchkey/store/endings';
import { Gauge } from 'prom-client';
import type { Registers } from './registers.ts';
import { withinASecond } from './within-a-second.ts';

const COUNTED_AT_MOST = 1_000;

export function collectWork(
  registers: Registers,
  { store, clock }: Pick<Service, 'store' | 'clock'>,
): void {
  const list = withinASecond(() => store.listWork(COUNTED_AT_MOST));
  const gauge = (name: string, help: string, value: (works: readonly Work[]) => number) =>
    new Gauge({
      ...{ name, help: `${help}; NaN if the database does not say at once.` },
      ...{ labelNames: ['kind'], registers },
      async collect() {
        const works = await list();
        for (const kind of workKinds) {
          const own = works?.filter((work) => work.kind === kind);
          this.set({ kind }, own === undefined ? Number.NaN : value(own));
        }
      },
    });
  gauge(
    'latchkey_work_pending',
    'Erasures, deletions and revocations that hold but are not written down completely yet',
    (works) => works.length,
  );
  gauge(
    'latchkey_work_oldest_seconds',
    'Time since the oldest of them was asked for, 0 for none',
    ([oldest]) => (oldest === undefined ? 0 : Math.max(clock() - oldest.at, 0) / 1000),
  );
}
