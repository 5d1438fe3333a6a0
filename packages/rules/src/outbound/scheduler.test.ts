import { setImmediate as turn } from 'node:timers/promises';
import type { Milliseconds } from '@latchkey/domain/clock';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  ASKERS_OF_SITE,
  CROWD,
  createScheduler,
  FAILURES_OF_HOST,
  HostFailing,
  NoPlace,
  type Outgoing,
  type SchedulerOptions,
  SHARE_OF_SITE,
  TURN,
  type Turn,
} from './scheduler.ts';

interface Asked extends Outgoing {
  host: string;
  port: number;
  isSilent: boolean;
}

function createWorld(options: Partial<SchedulerOptions> = {}) {
  const scheduler = createScheduler({
    places: 100,
    patience: 30_000,
    isLate: (error) => error === 'late',
    ...options,
  });
  /** What runs, in the order of the beginning. */
  const begun: (Pick<Asked, 'host' | 'port'> & {
    signal: AbortSignal;
    end(): void;
    fail(error: unknown): void;
  })[] = [];
  function work({ host, port, isSilent }: Asked, { signal, onConnected }: Turn): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (!isSilent) onConnected();
    begun.push({ host, port, signal, end: resolve, fail: reject });
    return promise;
  }
  let asked = 0;
  /** What has become of it. Default: of an address of its own */
  const run = async ({
    host = 'a host',
    port = 443,
    isSilent = port !== 443 || host.startsWith('silent'),
    path = (asked++).toString(),
    ...rest
  }: Partial<Asked> & { path?: string }) => {
    const address = `https://${host.replaceAll(' ', '-')}.example:${port}/${path}`;
    const ended = scheduler.run(
      { host, port, isSilent, address, asker: 'somebody', isKnown: false, ...rest },
      work,
    );
    const outcome = ended.then(
      () => 'done',
      (error) => (error instanceof Error ? error.name : error),
    );
    await turn();
    return { outcome };
  };
  const hosts = () => begun.map(({ host }) => host);
  /** Lets it end, and what waited for it begin. */
  const end = async (index: number) => {
    begun[index]?.end();
    await turn();
  };
  return { scheduler, begun, run, hosts, end };
}

test('2 of a host run at once, and a free place is for who can use it', async () => {
  const { run, hosts, end } = createWorld({ places: 3 });
  for (const host of ['a', 'a', 'b', 'a', 'c']) await run({ host });
  expect(hosts()).toEqual(['a', 'a', 'b']);
  // The fourth waits for a place of its host, so the fifth goes before it.
  await end(2);
  expect(hosts()).toEqual(['a', 'a', 'b', 'c']);
  await end(0);
  expect(hosts()).toEqual(['a', 'a', 'b', 'c', 'a']);
});

test('free places go round those who ask', async () => {
  const { scheduler, run, hosts, end } = createWorld({ places: 1, perAsker: 9 });
  for (const host of ['1', '2', '3', '4']) await run({ host, asker: 'busy' });
  await run({ host: '5', asker: 'somebody' });
  await run({ host: '6', asker: 'somebody else' });
  expect(scheduler.load()).toEqual({ running: 1, waiting: 5 });
  for (const index of [0, 1, 2, 3, 4]) await end(index);
  expect(hosts()).toEqual(['1', '2', '5', '6', '3', '4']);
  expect(scheduler.load()).toEqual({ running: 1, waiting: 0 });
});

test('of one asker 2 run and 2 wait, and the fifth is refused at once', async () => {
  const { run, hosts, end } = createWorld({ perAsker: 2 });
  for (const host of ['1', '2', '3', '4']) await run({ host, asker: 'busy' });
  const fifth = await run({ host: '5', asker: 'busy' });
  expect(await fifth.outcome).toBe(NoPlace.name);
  await run({ host: '6', asker: 'somebody else' });
  expect(hosts()).toEqual(['1', '2', '6']);
  await end(0);
  expect(hosts()).toEqual(['1', '2', '6', '3']);
});

test('askers of one site run as many as one of them, and have one turn', async () => {
  const { run, hosts, end } = createWorld({ places: 3, perAsker: 2 });
  for (const index of [1, 2, 3, 4, 5]) {
    await run({ host: `${index}`, asker: `asker ${index}`, site: 'busy' });
  }
  await run({ host: '6', asker: 'somebody' });
  await run({ host: '7', asker: 'somebody else' });
  expect(hosts()).toEqual(['1', '2', '6']);
  for (const index of [0, 1, 2]) await end(index);
  expect(hosts()).toEqual(['1', '2', '6', '3', '7', '4']);
});

test('askers of one site wait up to a number, however many they are', async () => {
  const { run, scheduler } = createWorld({ perAsker: 2 });
  const ask = (index: number) => run({ host: `${index}`, asker: `asker ${index}`, site: 'busy' });
  for (let index = 0; index < 2 + 2 * ASKERS_OF_SITE; index++) await ask(index);
  const late = await ask(100);
  expect(await late.outcome).toBe(NoPlace.name);
  await run({ asker: 'somebody else' });
  expect(scheduler.load()).toEqual({ running: 3, waiting: 2 * ASKERS_OF_SITE });
});

test('once many wait, one of a site does', async () => {
  const { run, scheduler } = createWorld({ places: 1, perAsker: 2 });
  await run({});
  for (let index = 0; index < CROWD / 2; index++) {
    for (const host of ['1', '2']) await run({ host, asker: `asker ${index}` });
  }
  const [first, second] = [await run({ asker: 'late' }), await run({ asker: 'late' })];
  expect(await second.outcome).toBe(NoPlace.name);
  expect(await Promise.race([first.outcome, 'waits'])).toBe('waits');
  // With the one that runs, a hundred: the last asker but one has one place in the line.
  expect(scheduler.load()).toEqual({ running: 1, waiting: CROWD });
});

test('once many wait for one fetch, one of a site joins', async () => {
  const { run, end } = createWorld({ perAsker: 2 });
  const join = (asker: string) => run({ path: 'same', asker });
  const early: Awaited<ReturnType<typeof join>>[] = [];
  for (let index = 0; index < CROWD; index++) early.push(await join(`asker ${index % 10}`));
  const [known, late, again] = [await join('asker 1'), await join('late'), await join('late')];
  expect(await Promise.all([known.outcome, again.outcome])).toEqual([NoPlace.name, NoPlace.name]);
  await end(0);
  const outcomes = await Promise.all([...early, late].map(({ outcome }) => outcome));
  expect(new Set(outcomes)).toEqual(new Set(['done']));
});

test('some places are for what is known', async () => {
  const { run, hosts, end } = createWorld({ places: 3, placesOfKnown: 1 });
  for (const host of ['1', '2', '3']) await run({ host });
  await run({ host: 'known', isKnown: true });
  expect(hosts()).toEqual(['1', '2', 'known']);
  await end(2);
  expect(hosts()).toEqual(['1', '2', 'known']);
  await end(0);
  expect(hosts()).toEqual(['1', '2', 'known', '3']);
});

test('what is known takes none of them where it has none of its own', async () => {
  const { run, hosts } = createWorld({ places: 3, placesOfKnown: 1 });
  const known = { isKnown: true, hasOwnPlaces: false };
  for (const host of ['1', '2', '3']) await run({ host, ...known });
  await run({ host: 'vouched', isKnown: true, hasOwnPlaces: true });
  expect(hosts()).toEqual(['1', '2', 'vouched']);
});

test('a host has one place for a minute after it took too long', async () => {
  useTimers();
  const { begun, run, hosts } = createWorld();
  const late = await run({ host: 'slow' });
  begun[0]?.fail('late');
  expect(await late.outcome).toBe('late');
  for (const host of ['slow', 'slow', 'other']) await run({ host });
  expect(hosts()).toEqual(['slow', 'slow', 'other']);
  vi.advanceTimersByTime(60_000);
  await run({ host: 'slow' });
  expect(hosts()).toEqual(['slow', 'slow', 'other', 'slow']);
});

test('a host at which 20 failed in a minute is left alone, but for what is known', async () => {
  useTimers();
  const { begun, run } = createWorld();
  const fail = async () => {
    const { outcome } = await run({});
    begun.at(-1)?.fail('broken');
    return outcome;
  };
  for (let count = 1; count < FAILURES_OF_HOST; count += 1) await fail();
  // Both have their places, and a third waits, when the last one is spent.
  for (let count = 0; count < 2; count += 1) await run({});
  const third = await run({});
  const before = begun.length;
  begun.at(-1)?.fail('broken');
  await turn();
  const fourth = await run({});
  expect(begun).toHaveLength(before);
  expect(await third.outcome).toBe(HostFailing.name);
  expect(await fourth.outcome).toBe(HostFailing.name);
  begun.at(-2)?.end();
  await run({ isKnown: true });
  await run({ host: 'other' });
  expect(begun).toHaveLength(before + 2);
  vi.advanceTimersByTime(60_000);
  await run({});
  expect(begun).toHaveLength(before + 3);
});

test('who has waited too long has no place later', async () => {
  const { scheduler, run, hosts, end } = createWorld({ places: 1, patience: 1 });
  await run({});
  const late = await run({});
  expect(await late.outcome).toBe(NoPlace.name);
  expect(scheduler.load()).toEqual({ running: 1, waiting: 0 });
  await end(0);
  await run({});
  expect(hosts()).toHaveLength(2);
});

test('a port at which a host was there has its places before silent ones', async () => {
  const { begun, run, end } = createWorld();
  const known = { host: 'there', isKnown: true };
  await run(known);
  await end(0);
  for (const port of [1, 2, 3]) await run({ ...known, port, asker: `${port}` });
  expect(begun).toHaveLength(3);
  await run(known);
  const ended = begun.filter(({ signal }) => signal.aborted);
  expect(ended).toHaveLength(1);
  ended[0]?.fail('late');
  await turn();
  // It was its turn, before that of the third.
  expect(begun.map(({ port }) => port)).toEqual([443, 1, 2, 443]);
});

test('another port waits for nobody who could not have its place', async () => {
  const { run, hosts, end } = createWorld({ perAsker: 1 });
  const known = { host: 'there', isKnown: true };
  await run(known);
  await end(0);
  for (const host of ['own', 'there']) await run({ ...known, host, asker: 'busy' });
  await run({ ...known, port: 8443 });
  expect(hosts()).toEqual(['there', 'own', 'there']);
});

test.each<[what: string, last: Partial<Asked>]>([
  ['once it is silent', { isKnown: true, isSilent: true }],
  ['where anybody can make it up', { isKnown: false }],
])('a port has no places before others %s', async (_, last) => {
  const { begun, run, hosts, end } = createWorld();
  await run({ isKnown: !!last.isKnown });
  await end(0);
  const ended = await run(last);
  begun[1]?.fail(last.isSilent ? 'late' : 'broken');
  await ended.outcome;
  for (const port of [1, 2, 443]) await run({ isKnown: true, port });
  expect(begun.some(({ signal }) => signal.aborted)).toBe(false);
  expect(hosts()).toHaveLength(last.isSilent ? 3 : 4);
});

/** How long something has run, and a site has had places, is a matter of timers. */
function useTimers() {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
  onTestFinished(() => void vi.useRealTimers());
}

/** A world in which some have had places for longer than their share. */
async function createUsedWorld(
  options: Partial<SchedulerOptions>,
  used: Record<string, Milliseconds>,
) {
  useTimers();
  const world = createWorld({ patience: 600_000, ...options });
  for (const [asker, time] of Object.entries(used)) {
    await world.run({ host: `of ${asker}`, asker });
    vi.advanceTimersByTime(time);
    world.begun.at(-1)?.end();
    await turn();
  }
  const ended = () => world.begun.filter(({ signal }) => signal.aborted).map(({ host }) => host);
  return { ...world, ended };
}

test('what is at a silent host gives way to who waits, after a turn', async () => {
  useTimers();
  const { begun, run, hosts } = createWorld({ places: 2 });
  await run({ host: 'slow', asker: 'somebody else' });
  await run({ host: 'silent', asker: 'somebody' });
  await run({ host: 'quick', asker: 'another' });
  vi.advanceTimersByTime(TURN - 1);
  expect(begun.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  vi.advanceTimersByTime(1);
  expect(begun.map(({ signal }) => signal.aborted)).toEqual([false, true]);
  begun.at(-1)?.fail('late');
  await turn();
  expect(hosts().at(-1)).toBe('quick');
});

test('one fetch of a host that is there is ended for nobody, however slow', async () => {
  useTimers();
  const { begun, run, hosts, end } = createWorld({ places: 2 });
  for (const name of ['1', '2', '3', '4']) await run({ host: name, asker: name });
  vi.advanceTimersByTime(SHARE_OF_SITE);
  expect(begun.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  await end(0);
  expect(hosts()).toEqual(['1', '2', '3']);
});

test('who has used more than a share gives way to who waits, after a turn', async () => {
  const { begun, run, hosts, ended } = await createUsedWorld(
    { places: 2 },
    { much: SHARE_OF_SITE, more: 2 * SHARE_OF_SITE },
  );
  for (const asker of ['much', 'more']) await run({ host: `slow of ${asker}`, asker });
  for (const asker of ['1', '2']) await run({ host: asker, asker });
  vi.advanceTimersByTime(TURN - 1);
  expect(ended()).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(ended()).toEqual(['slow of more']);
  begun.at(-1)?.fail('late');
  await turn();
  // The next one who waits has the next place.
  expect(ended()).toEqual(['slow of much', 'slow of more']);
  begun.at(-3)?.fail('late');
  await turn();
  expect(hosts().slice(-2)).toEqual(['1', '2']);
});

test('who has used the most gives way first', async () => {
  const { run, ended } = await createUsedWorld(
    { places: 2 },
    { more: 2 * SHARE_OF_SITE, much: SHARE_OF_SITE },
  );
  for (const asker of ['much', 'more']) await run({ host: `slow of ${asker}`, asker });
  vi.advanceTimersByTime(TURN);
  await run({ host: '1', asker: '1' });
  expect(ended()).toEqual(['slow of more']);
  // Its place is for the one who waits, so nobody else gives way until it has left.
  vi.advanceTimersByTime(TURN);
  expect(ended()).toEqual(['slow of more']);
});

test.each<[what: string, slow: Partial<Outgoing>, quick: Partial<Outgoing>]>([
  ['who has used as much', {}, { asker: 'as much' }],
  ['who asks from the same site', { site: 'used' }, { asker: 'another', site: 'used' }],
  ['who may not have the place', { isKnown: true }, {}],
])('who has used more than a share does not give way to %s', async (_, slow, quick) => {
  const { run, ended } = await createUsedWorld(
    { places: slow.isKnown ? 2 : 1, placesOfKnown: slow.isKnown ? 2 : 0 },
    { used: SHARE_OF_SITE + 1, 'as much': SHARE_OF_SITE + 1 },
  );
  await run({ host: 'slow', asker: 'used', ...slow });
  vi.advanceTimersByTime(TURN);
  await run({ host: 'quick', asker: 'somebody', ...quick });
  expect(ended()).toEqual([]);
});

test('who has used the least has the next place, whoever waits for longer', async () => {
  const { begun, run, hosts } = await createUsedWorld(
    { places: 1 },
    { much: 4_000, little: 1_500 },
  );
  for (const asker of ['first', 'much', 'little', 'none']) await run({ host: asker, asker });
  for (let count = 0; count < 3; count += 1) {
    begun.at(-1)?.end();
    await turn();
  }
  expect(hosts().slice(-3)).toEqual(['none', 'little', 'much']);
});

test('a site is as any other again two minutes later', async () => {
  const { run, ended } = await createUsedWorld({ places: 1 }, { used: 100 * SHARE_OF_SITE });
  vi.advanceTimersByTime(120_000);
  await run({ host: 'slow', asker: 'used' });
  vi.advanceTimersByTime(SHARE_OF_SITE);
  await run({ host: 'quick', asker: 'somebody' });
  expect(ended()).toEqual([]);
});

test('what is ended for others is no failure of its host', async () => {
  const { begun, run, hosts, ended } = await createUsedWorld(
    { places: 1 },
    { used: 2 * SHARE_OF_SITE },
  );
  for (let count = 0; count < FAILURES_OF_HOST; count += 1) {
    await run({ host: 'slow', asker: 'used' });
    vi.advanceTimersByTime(TURN);
    await run({ host: 'quick', asker: `another ${count}` });
    expect(ended()).toHaveLength(count + 1);
    begun.at(-1)?.fail('late');
    await turn();
    begun.at(-1)?.end();
    await turn();
  }
  await run({ host: 'slow' });
  expect(hosts().at(-1)).toBe('slow');
});

test('a fetch is not ended for what its beginner has used while somebody else has joined it', async () => {
  const { begun, run, ended, end } = await createUsedWorld(
    { places: 1 },
    { much: 2 * SHARE_OF_SITE },
  );
  await run({ host: 'slow', path: 'same', asker: 'much' });
  const joined = await run({ host: 'slow', path: 'same', asker: 'somebody else' });
  await run({ host: 'quick', asker: 'another' });
  vi.advanceTimersByTime(SHARE_OF_SITE);
  expect(ended()).toEqual([]);
  await end(begun.length - 1);
  expect(await joined.outcome).toBe('done');
});

test('who joins a fetch of a silent host has a turn of its own', async () => {
  useTimers();
  const { begun, run } = createWorld({ places: 1 });
  await run({ host: 'silent', path: 'same', asker: 'first' });
  await run({ host: 'quick', asker: 'another' });
  vi.advanceTimersByTime(TURN - 1);
  await run({ host: 'silent', path: 'same', asker: 'second' });
  vi.advanceTimersByTime(TURN - 1);
  expect(begun[0]?.signal.aborted).toBe(false);
  vi.advanceTimersByTime(TURN);
  expect(begun[0]?.signal.aborted).toBe(true);
});

test('what is ended is shared by nobody who comes later', async () => {
  useTimers();
  const { begun, run } = createWorld({ places: 1 });
  const asked = { host: 'silent', path: 'same' };
  await run({ ...asked, asker: 'first' });
  await run({ host: 'quick', asker: 'another' });
  vi.advanceTimersByTime(TURN);
  const later = await run({ ...asked, asker: 'second' });
  begun[0]?.fail('late');
  await turn();
  begun[1]?.end();
  await turn();
  begun[2]?.end();
  expect(await later.outcome).toBe('done');
});

test('who has joined pays for the time as who has begun', async () => {
  useTimers();
  const { begun, run, hosts } = createWorld({ places: 1, perAsker: 9 });
  for (const asker of ['first', 'joined']) await run({ host: 'slow', path: 'same', asker });
  vi.advanceTimersByTime(2 * TURN);
  for (const asker of ['joined', 'another']) await run({ host: `of ${asker}`, asker });
  for (let count = 0; count < 2; count += 1) {
    begun.at(-1)?.end();
    await turn();
  }
  expect(hosts()).toEqual(['slow', 'of another', 'of joined']);
});

test('who waits for the same begins with whoever has the first place', async () => {
  const { scheduler, run, hosts, end } = createWorld({ places: 1 });
  await run({ asker: 'busy' });
  const same = await Promise.all(
    ['1', '2'].map((asker) => run({ host: 'same', path: 'same', asker })),
  );
  expect(scheduler.load()).toEqual({ running: 1, waiting: 2 });
  await end(0);
  expect(scheduler.load()).toEqual({ running: 1, waiting: 0 });
  await end(1);
  expect(await Promise.all(same.map(({ outcome }) => outcome))).toEqual(['done', 'done']);
  expect(hosts()).toEqual(['a host', 'same']);
});

test('a silent host that many ask in turn has a place for two turns', async () => {
  useTimers();
  const { begun, run } = createWorld({ places: 1 });
  for (const asker of ['first', 'second', 'third']) {
    await run({ host: 'silent', path: 'same', asker });
    if (asker !== 'third') vi.advanceTimersByTime(TURN - 50);
  }
  await run({ host: 'of another', asker: 'another' });
  vi.advanceTimersByTime(2 * (TURN / 10));
  expect(begun.map(({ signal }) => signal.aborted)).toEqual([true]);
});

describe('who has hung up', () => {
  test('holds no place in the line', async () => {
    const { scheduler, run } = createWorld({ places: 1, perAsker: 1 });
    await run({ asker: 'busy' });
    const { signal: gone, abort } = abortable();
    const first = await run({ gone });
    abort();
    expect(scheduler.load()).toEqual({ running: 1, waiting: 0 });
    expect(await first.outcome).toBe(NoPlace.name);
    await run({});
    expect(scheduler.load()).toEqual({ running: 1, waiting: 1 });
    expect(await (await run({ asker: 'another', gone })).outcome).toBe(NoPlace.name);
  });

  test('runs no more than who waits', async () => {
    const { begun, run, hosts, end } = createWorld({ perAsker: 1 });
    const { signal: gone, abort } = abortable();
    await run({ host: 'first', gone });
    abort();
    await run({ host: 'second' });
    expect(begun.map(({ signal }) => signal.aborted)).toEqual([true]);
    await end(0);
    expect(hosts()).toEqual(['first', 'second']);
  });

  test('and asks for the same again has had its turn', async () => {
    useTimers();
    const { begun, run } = createWorld({ places: 1 });
    const { signal: gone, abort } = abortable();
    await run({ host: 'silent', path: 'same', asker: 'first', gone });
    vi.advanceTimersByTime(TURN - 100);
    abort();
    await run({ host: 'silent', path: 'same', asker: 'first' });
    await run({ host: 'of another', asker: 'another' });
    vi.advanceTimersByTime(200);
    expect(begun.map(({ signal }) => signal.aborted)).toEqual([true]);
  });

  test('has used the place until then', async () => {
    useTimers();
    const { begun, run, hosts } = createWorld({ places: 1 });
    const { signal: gone, abort } = abortable();
    await run({ host: 'slow', asker: 'first', gone });
    vi.advanceTimersByTime(2 * TURN);
    abort();
    for (const asker of ['first', 'another']) await run({ host: `of ${asker}`, asker });
    begun[0]?.fail('late');
    await turn();
    expect(hosts()).toEqual(['slow', 'of another']);
  });

  test('leaves what runs to who needs its place, or asks for the same', async () => {
    const { begun, run, end } = createWorld({ places: 2 });
    const [first, second] = [abortable(), abortable()];
    await run({ host: 'first', path: 'same', gone: first.signal });
    await run({ host: 'second', gone: second.signal });
    for (const { abort } of [first, second]) abort();
    await run({ host: 'first', path: 'same', asker: 'joined' });
    expect(begun.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    await run({ host: 'third' });
    expect(begun.map(({ signal }) => signal.aborted)).toEqual([false, true]);
    begun[1]?.fail('late');
    await turn();
    // Its host was not late.
    for (const index of [0, 2]) await end(index);
    for (const asker of ['one', 'another']) await run({ host: 'second', asker });
    expect(begun).toHaveLength(5);
  });

  test('spends what its host may fail', async () => {
    const { begun, run } = createWorld({ places: 1 });
    for (let count = 0; count < FAILURES_OF_HOST; count += 1) {
      const { signal: gone, abort } = abortable();
      await run({ host: 'victim', gone });
      abort();
      await run({ host: 'quick' });
      begun.at(-1)?.fail('ended');
      await turn();
      begun.at(-1)?.end();
      await turn();
    }
    expect(await (await run({ host: 'victim' })).outcome).toBe(HostFailing.name);
  });
});

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
