import type { EventsObserver } from '@latchkey/rules/events/events';
import type { Service } from '@latchkey/rules/service';
import { MAX_COUNTED_EVENTS } from '@latchkey/rules/summary/summary';
import { attemptResults } from '@latchkey/schema';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registers } from './registers.ts';
import { withinASecond } from './within-a-second.ts';

// A try ends after 15 s.
const DURATIONS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

export function observeEvents(registers: Registers): EventsObserver {
  const attempts = new Counter({
    name: 'latchkey_event_attempts_total',
    help: 'Tries to deliver a message, by result, each 0 from the start.',
    labelNames: ['result'],
    registers,
  });
  const durations = new Histogram({
    name: 'latchkey_event_attempt_seconds',
    help: 'From the beginning of a try to the headers of the response, or to its failure.',
    buckets: DURATIONS,
    registers,
  });
  const disabled = new Counter({
    name: 'latchkey_endpoints_disabled_total',
    help: 'Endpoints that their tries have disabled, by reason, each 0 from the start.',
    labelNames: ['reason'],
    registers,
  });
  for (const result of attemptResults) attempts.inc({ result }, 0);
  for (const reason of ['gone', 'failing']) disabled.inc({ reason }, 0);
  return {
    onAttempt({ result, duration_ms }) {
      attempts.inc({ result });
      durations.observe(duration_ms / 1000);
    },
    onDisabled({ disabled_reason }) {
      disabled.inc({ reason: disabled_reason ?? '' });
    },
  };
}

export function collectEvents(
  registers: Registers,
  { store, clock }: Pick<Service, 'store' | 'clock'>,
): void {
  const count = withinASecond(() => store.countEvents(MAX_COUNTED_EVENTS));
  new Gauge({
    name: 'latchkey_events_pending',
    help: 'Events that are not delivered yet; NaN if the database does not say at once.',
    registers,
    async collect() {
      this.set((await count())?.pending ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'latchkey_events_oldest_seconds',
    help: 'Time since the oldest of them happened, 0 for none; NaN if the database does not say at once.',
    registers,
    async collect() {
      const counts = await count();
      const now = clock();
      this.set(counts === null ? Number.NaN : (now - (counts.oldest_at ?? now)) / 1000);
    },
  });
}
