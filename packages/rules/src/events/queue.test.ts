import { randomUUID } from 'node:crypto';
import { withChoice } from '@latchkey/store/event';
import type { ClaimedDelivery, DueEndpoint } from '@latchkey/store/store';
import { expect, test } from 'vitest';
import { createPlaces } from './places.ts';
import { createQueue, type Wanted } from './queue.ts';

const quick = { isDelivered: true, duration_ms: 5 };

const aDue = (of: Partial<DueEndpoint> = {}): DueEndpoint => ({
  ...{ id: randomUUID(), application_id: randomUUID(), standing: 'working', ...of },
});

const claimedOf = (
  { id, application_id }: DueEndpoint,
  count: number,
  { type = 'grant.revoked', body = '{"data":{}}' } = {},
): ClaimedDelivery[] =>
  Array.from(
    { length: count },
    () =>
      ({
        delivery: { id: randomUUID(), type, body },
        endpoint: { id, application_id },
      }) as ClaimedDelivery,
  );

function withQueue() {
  let time = 0;
  const places = createPlaces(() => time);
  const queue = createQueue(places, () => time);
  const want = (...due: DueEndpoint[]) => queue.want(due, time);
  const mostOf = (wanted: readonly Wanted[]) => wanted.map(({ most }) => most);
  /** One whose last try was delivered at once. */
  function quickOne(of?: Partial<DueEndpoint>) {
    const due = aDue(of);
    const wanted = want(due);
    const [begun] = queue.put(wanted, claimedOf(due, 1));
    if (begun) places.leave(begun.place, quick);
    return due;
  }
  return {
    ...{ places, queue, want, mostOf, quickOne },
    pass(duration: number) {
      time += duration;
    },
  };
}

test('of an endpoint that was not quick, no more is claimed than can begin', () => {
  const { queue, want, mostOf } = withQueue();
  const [one, failing] = [aDue(), aDue({ standing: 'failing' })];
  const wanted = want(one, failing);
  expect(mostOf(wanted)).toEqual([4, 1]);
  expect(queue.put(wanted, [...claimedOf(one, 4), ...claimedOf(failing, 1)])).toHaveLength(5);
  expect(want(one, failing)).toEqual([]);
});

test('of a quick one the next are claimed with it, and begin in their order', () => {
  const { places, queue, want, mostOf, quickOne } = withQueue();
  const due = quickOne();
  const wanted = want(due);
  expect(mostOf(wanted)).toEqual([4 + 12]);
  const claimed = claimedOf(due, 16);
  const begun = queue.put(wanted, claimed);
  expect(begun.map((one) => one.claimed)).toEqual(claimed.slice(0, 4));
  expect(queue.full()).toEqual([due.id]);
  expect(queue.next()).toBeNull();
  if (begun[0]) places.leave(begun[0].place, quick);
  expect(queue.next()?.claimed).toBe(claimed[4]);
  expect(queue.wantsMore(due.id)).toBe(false);
});

test('places of what was not found after all are free again, also after an error', () => {
  const { places, queue, want } = withQueue();
  const due = aDue();
  queue.put(want(due), claimedOf(due, 1));
  expect(places.taken).toBe(1);
  queue.put(want(due), []);
  expect(places.taken).toBe(1);
});

test('an end asks for another look only where a claim may find something', () => {
  const { queue, want, quickOne } = withQueue();
  const due = quickOne();
  expect(queue.wantsMore(due.id)).toBe(false);
  queue.put(want(due), claimedOf(due, 16));
  queue.clear();
  expect(queue.wantsMore(due.id)).toBe(true);
  // It has nothing due any more.
  want();
  expect(queue.wantsMore(due.id)).toBe(false);
  // One that could not begin then can begin once its own try has ended, and no other.
  const failing = aDue({ standing: 'failing' });
  queue.put(want(failing), claimedOf(failing, 1));
  want(failing);
  expect([failing.id, due.id].map((id) => queue.wantsMore(id))).toEqual([true, false]);
});

test('what waits for a second is taken out, and what has personal data at once', () => {
  const { queue, want, pass, quickOne } = withQueue();
  const [due, choices] = [quickOne(), quickOne()];
  const [names, hosts] = [quickOne(), quickOne({ application_id: null })];
  const all = [due, choices, names, hosts];
  const chosen = withChoice('{"data":{}}', { id: 'a', label: 'Ada' });
  queue.put(want(...all), [
    ...[...claimedOf(due, 8), ...claimedOf(choices, 8, { body: chosen })],
    ...[names, hosts].flatMap((one) => claimedOf(one, 8, { type: 'account.updated' })),
  ]);
  const endpoints = (claimed: readonly ClaimedDelivery[]) => [
    ...new Set(claimed.map(({ endpoint }) => endpoint.id)),
  ];
  const personal = [choices, names, hosts];
  expect(endpoints(queue.clearPersonal()).sort()).toEqual(personal.map(({ id }) => id).sort());
  // While it is told such, no more of it is claimed than can begin.
  expect(want(...personal)).toEqual([]);
  pass(999);
  expect(queue.clearLate()).toEqual([]);
  pass(1);
  expect(endpoints(queue.clearLate())).toEqual([due.id]);
  expect(queue.clear()).toEqual([]);
});
