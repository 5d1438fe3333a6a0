import type { CountName, HourCounts } from '@latchkey/store/records';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_STEPS, stepsOf, summaryOf } from './summary.ts';

const HOUR = 3_600_000;

const names: CountName[] = [
  ...(['links:begun', 'links:approved', 'links:denied', 'grants:created'] as const),
  ...(['revoked:idle', 'revoked:user'] as const),
  ...(['refused:rate_limited:-', 'refused:credentials_invalid:secret_expired'] as const),
];
const counts = fc.dictionary(fc.constantFrom(...names), fc.nat(1_000));
const now = fc.integer({ min: Date.UTC(2026), max: Date.UTC(2060) });
const asked = fc.integer({ min: 1, max: 720 });
/** In a bit more than the time that can be asked for. */
const hoursAgo = fc.array(fc.record({ ago: fc.integer({ min: -2, max: 740 }), counts }));

const sumOf = (nested: object): number =>
  Object.values(nested).reduce((sum, one) => sum + (typeof one === 'number' ? one : sumOf(one)), 0);

test('the steps are whole hours that cover what was asked, and one step more at most', () => {
  fc.assert(
    fc.property(now, asked, (now, asked) => {
      const { since, until, step } = stepsOf(asked, now);
      expect([since % HOUR, step % HOUR, (until - since) % step]).toEqual([0, 0, 0]);
      expect((until - since) / step).toBeLessThanOrEqual(MAX_STEPS);
      expect(now).toBeGreaterThanOrEqual(until - HOUR);
      expect(now).toBeLessThan(until);
      const begin = now - asked * HOUR;
      expect(since).toBeLessThanOrEqual(begin);
      expect(since).toBeGreaterThan(begin - step);
    }),
  );
});

test('the numbers are the sums of the hours and of the series', () => {
  fc.assert(
    fc.property(now, asked, hoursAgo, (now, asked, list) => {
      const steps = stepsOf(asked, now);
      const present = steps.until - HOUR;
      const records = list.map(({ ago, counts }) => ({ hour: present - ago * HOUR, counts }));
      const { links, grants, refused, series } = summaryOf(records, {
        ...{ now, steps, live: -1, events: null },
      });
      const within = records.filter(({ hour }) => hour >= steps.since && hour < steps.until);
      const total = (prefix: string, of: readonly HourCounts[] = within) =>
        of
          .flatMap(({ counts }) => Object.entries(counts))
          .reduce((sum, [name, count]) => sum + (name.startsWith(prefix) ? count : 0), 0);
      expect(series).toHaveLength((steps.until - steps.since) / steps.step);
      for (const [column, prefix, number] of [
        ['created', 'grants:', grants.created],
        ['revoked', 'revoked:', sumOf(grants.revoked)],
        ['refused', 'refused:', sumOf(refused)],
      ] as const) {
        const inSeries = series.reduce((sum, each) => sum + each[column], 0);
        expect([inSeries, number]).toEqual([total(prefix), total(prefix)]);
      }
      expect([links.begun, links.approved, links.denied]).toEqual(
        ['links:begun', 'links:approved', 'links:denied'].map((name) => total(name)),
      );
      const over = within.filter(({ hour }) => hour + 2 * HOUR <= now);
      const undecided = total('links:begun', over) * 2 - total('links:', over);
      expect([links.expired, grants.live]).toEqual([Math.max(undecided, 0), 0]);
    }),
  );
});
