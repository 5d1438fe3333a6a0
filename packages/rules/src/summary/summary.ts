import type { Milliseconds } from '@latchkey/domain/clock';
import { LINK_LIFETIME } from '@latchkey/domain/lifetimes';
import { formatTimestamp, type Summary, type SummaryStep } from '@latchkey/schema';
import type { HourCounts } from '@latchkey/store/records';
import { type EventCounts, liveChange } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';
import { hourOf } from './counts.ts';

const HOUR: Milliseconds = 3_600_000;

/** `docs/protocol/limits.md` has it. */
export const MAX_STEPS = 96;

/** More are not counted: a few milliseconds along an index, however many wait. */
export const MAX_COUNTED_EVENTS = 10_000;

/** Counts no grant, so it costs the same whatever the database's size. */
export async function summarize(
  { store, clock, counts, events }: Pick<Dependencies, 'store' | 'clock' | 'counts' | 'events'>,
  asked: number,
): Promise<Summary> {
  const now = clock();
  const steps = stepsOf(asked, now);
  const { written, unwritten } = await counts.withUnwritten(() =>
    Promise.all([
      store.listCounts(steps),
      store.findLiveCount(),
      events && store.countEvents(MAX_COUNTED_EVENTS),
    ]),
  );
  const [hours, live, told] = written;
  const changes = unwritten.map((hour) => liveChange(hour.counts));
  return summaryOf([...hours, ...unwritten], {
    ...{ now, steps },
    live: live && changes.reduce((sum, change) => sum + change, live.count),
    events: told,
  });
}

/** Whole hours of UTC. The last one is the present one. */
export interface Steps {
  since: Milliseconds;
  /** The end of the present hour. */
  until: Milliseconds;
  /** The length of a step. */
  step: Milliseconds;
}

/** @param asked - hours that the steps cover, at least */
export function stepsOf(asked: number, now: Milliseconds): Steps {
  const until = hourOf(now) + HOUR;
  // The period usually begins in the middle of an hour, so it reaches into one more.
  const hours = asked + 1;
  const hoursOfStep = Math.ceil(hours / MAX_STEPS);
  const step = hoursOfStep * HOUR;
  return { since: until - Math.ceil(hours / hoursOfStep) * step, until, step };
}

/** @param records - several may be of one hour */
export function summaryOf(
  records: readonly HourCounts[],
  {
    now,
    steps,
    live,
    events,
  }: { now: Milliseconds; steps: Steps; live: number | null; events: EventCounts | null },
): Summary {
  const { since, until, step } = steps;
  const series: SummaryStep[] = [];
  for (let at = since; at < until; at += step) {
    series.push({ at: formatTimestamp(at), created: 0, revoked: 0, refused: 0 });
  }
  const links = { begun: 0, approved: 0, denied: 0 };
  let undecided = 0;
  let created = 0;
  const revoked: Summary['grants']['revoked'] = {};
  const refused: Summary['refused'] = {};
  for (const { hour, counts } of records) {
    const inStep = series[Math.floor((hour - since) / step)];
    // The counts in memory may be older than the period.
    if (inStep === undefined) continue;
    const isOver = hour + HOUR + LINK_LIFETIME <= now;
    for (const [name, count] of Object.entries(counts)) {
      const [kind, what = '', reason = ''] = name.split(':');
      if (kind === 'links') {
        links[what as keyof typeof links] += count;
        if (isOver) undecided += what === 'begun' ? count : -count;
      } else if (kind === 'grants') {
        created += count;
        inStep.created += count;
      } else if (kind === 'revoked') {
        revoked[what] = (revoked[what] ?? 0) + count;
        inStep.revoked += count;
      } else {
        const ofCode = refused[what] ?? {};
        refused[what] = ofCode;
        ofCode[reason] = (ofCode[reason] ?? 0) + count;
        inStep.refused += count;
      }
    }
  }
  return {
    object: 'summary',
    since: formatTimestamp(since),
    until: formatTimestamp(now),
    // Negative if a process was killed before it wrote the count of the links that began.
    links: { ...links, expired: Math.max(undecided, 0) },
    grants: { created, revoked, live: live && Math.max(live, 0) },
    refused,
    events: events && toEventCounts(events, now),
    series,
    approximate: true,
  };
}

const toEventCounts = (
  { pending, oldest_at, failing_endpoints }: EventCounts,
  now: Milliseconds,
): Summary['events'] => ({
  pending,
  // The clock of the process that recorded it may be ahead.
  oldest_seconds: oldest_at === null ? 0 : Math.max(Math.floor((now - oldest_at) / 1000), 0),
  failing_endpoints,
});
