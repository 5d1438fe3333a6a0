import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createPlaces, type Place, type Receiver, TRY_PACE, TRY_PLACES } from './places.ts';

const SECOND = 1_000;
const quick = { isDelivered: true, duration_ms: 5 };
const slow = { isDelivered: true, duration_ms: 1_001 };
const failed = { isDelivered: false, duration_ms: 5 };

const aReceiver = (of: Partial<Receiver> = {}): Receiver => ({
  ...{ id: randomUUID(), owner: randomUUID(), standing: 'working', ...of },
});

function withPlaces() {
  let time = 0;
  const places = createPlaces(() => time);
  /** Takes what these get, beside owners who have something due too. */
  function takeAll(receivers: readonly Receiver[], others: readonly Receiver[] = []): Place[] {
    const owners = new Set([...receivers, ...others].map(({ owner }) => owner));
    return places.take(receivers, { isAlone: owners.size <= 1 });
  }
  return {
    ...{ places, takeAll },
    pass(duration: number) {
      time += duration;
    },
    /** So many at once. */
    runs(receiver: Receiver): number {
      const taken = takeAll([receiver]);
      for (const place of taken) places.leave(place, null);
      return taken.length;
    },
    /** Ends tries of it one by one. */
    endTries(receiver: Receiver, end: typeof quick, count: number): void {
      for (let nth = 0; nth < count; nth++) {
        const [place] = places.take([receiver], { isAlone: true, most: 1 });
        if (place) places.leave(place, end);
      }
    },
  };
}

test('an endpoint has 4, twice as many after as many quick deliveries in a row, and 64 at most', () => {
  const { runs, endTries } = withPlaces();
  const one = aReceiver();
  expect(runs(one)).toBe(4);
  endTries(one, quick, 3);
  expect(runs(one)).toBe(4);
  endTries(one, quick, 1);
  expect(runs(one)).toBe(8);
  // A slow one keeps the number, and the row begins anew.
  endTries(one, quick, 7);
  endTries(one, slow, 1);
  endTries(one, quick, 7);
  expect(runs(one)).toBe(8);
  endTries(one, quick, 1 + 16 + 32 + 64 + 64);
  expect(runs(one)).toBe(64);
});

test('another end halves the number, and there is one while it fails or has never worked', () => {
  const { places, runs, endTries, pass } = withPlaces();
  const one = aReceiver();
  endTries(one, quick, 4 + 8);
  expect(runs(one)).toBe(16);
  // Found out before the end of the try.
  pass(1);
  endTries(one, failed, 1);
  places.learn(one, 0);
  expect(runs(one)).toBe(1);
  pass(1);
  places.learn(one, 2);
  expect(runs(one)).toBe(8);
  endTries(one, failed, 9);
  pass(1);
  places.learn(one, 3);
  expect(runs(one)).toBe(1);
  expect(runs(aReceiver({ standing: 'new' }))).toBe(1);
  expect(runs(aReceiver({ standing: 'failing' }))).toBe(1);
});

/** Endpoints of one owner that have the most that one may have. */
function grown(endTries: ReturnType<typeof withPlaces>['endTries'], count: number) {
  const owner = randomUUID();
  const all = Array.from({ length: count }, () => aReceiver({ owner }));
  for (const one of all) endTries(one, quick, 4 + 8 + 16 + 32);
  return all;
}

test('an owner has at most half while another has something due, and most when it is alone', () => {
  const { takeAll, endTries, places } = withPlaces();
  const all = grown(endTries, 3);
  const alone = takeAll(all);
  expect(alone.length).toBeGreaterThan(TRY_PLACES.all / 2);
  for (const place of alone) places.leave(place, null);
  expect(takeAll(all, [aReceiver()])).toHaveLength(TRY_PLACES.all / 2);
});

test('each owner gets the next free place in turn, however many endpoints it has', () => {
  const { takeAll, endTries } = withPlaces();
  const many = grown(endTries, 4);
  const [one] = grown(endTries, 1);
  const owners = takeAll([...many, ...(one ? [one] : [])]).map(({ receiver }) => receiver.owner);
  for (let turn = 0; turn + 1 < owners.length; turn += 2) {
    expect(new Set(owners.slice(turn, turn + 2)).size).toBe(2);
  }
  expect(owners.length).toBeGreaterThan(TRY_PLACES.all / 2);
});

test('of an owner, the endpoint with fewer tries is next', () => {
  const { places, endTries } = withPlaces();
  const owner = randomUUID();
  const [hanging, other] = [aReceiver({ owner }), aReceiver({ owner })];
  for (const one of [hanging, other]) endTries(one, quick, 4);
  places.take([hanging], { isAlone: true, most: 6 });
  const taken = places.take([hanging, other], { isAlone: true, most: 6 });
  expect(taken.map(({ receiver }) => receiver)).toEqual(Array(6).fill(other));
});

test('a message to another owner finds a place, however many endpoints hang, and whoever has them', () => {
  const { places, takeAll, endTries } = withPlaces();
  // They were quick, and have stopped to answer.
  for (let owner = 0; owner < 20; owner++) {
    takeAll(grown(endTries, 3), [aReceiver()]);
    const [place] = takeAll([aReceiver()], [aReceiver()]);
    expect(place).toBeDefined();
    if (place) places.leave(place, quick);
  }
});

test('several messages to another owner find places at once while two owners hang', () => {
  const { takeAll, endTries } = withPlaces();
  for (const one of [...grown(endTries, 1), ...grown(endTries, 1)]) takeAll([one], [aReceiver()]);
  expect(takeAll([aReceiver()], [aReceiver()])).toHaveLength(TRY_PACE.first);
});

test.each([
  [1, 'beside another owner', [aReceiver()]],
  [2, 'alone', []],
])(
  'a message to another endpoint of the owner finds a place while %i hang, %s',
  (count, _, others) => {
    const { takeAll, endTries } = withPlaces();
    const [quick, ...hanging] = grown(endTries, count + 1);
    expect(takeAll(hanging, others).length).toBeGreaterThanOrEqual(TRY_PACE.most - 1);
    expect(quick && takeAll([quick], others).length).toBeGreaterThan(0);
  },
);

test('one that hangs keeps none from trying again that was slow or has failed', () => {
  const { takeAll, endTries, pass } = withPlaces();
  takeAll(grown(endTries, 1), [aReceiver()]);
  pass(SECOND + 1);
  const before = aReceiver();
  endTries(before, slow, 5);
  expect(takeAll([before], [aReceiver()])).toHaveLength(TRY_PACE.first);
  expect(takeAll([aReceiver({ standing: 'failing' })], [aReceiver()])).toHaveLength(1);
});

test('those that fail have 16, and 32 with those that are slow', () => {
  const { places, takeAll, endTries, pass } = withPlaces();
  const several = (count: number, standing: Receiver['standing']) =>
    Array.from({ length: count }, () => aReceiver({ standing }));
  expect(takeAll(several(40, 'failing'))).toHaveLength(TRY_PLACES.failing);
  const slows = several(40, 'working');
  for (const one of slows) endTries(one, slow, 5);
  expect(takeAll(slows)).toHaveLength(TRY_PLACES.slow - TRY_PLACES.failing);
  expect(takeAll(several(1, 'failing'))).toHaveLength(0);
  // Another try of one that was slow four times.
  const nearly = aReceiver();
  endTries(nearly, slow, 4);
  expect(takeAll([nearly])).toHaveLength(4);
  // One that hangs is slow before its tries end.
  const [hanging] = grown(endTries, 1);
  const before = places.taken;
  const some = hanging ? takeAll([hanging], [aReceiver()]) : [];
  for (const place of some.slice(5)) places.leave(place, null);
  pass(SECOND + 1);
  expect(hanging && takeAll([hanging])).toHaveLength(0);
  expect(places.taken).toBe(before + 5);
  // What was never tried has one of the others.
  expect(takeAll(several(3, 'new'))).toHaveLength(3);
});
