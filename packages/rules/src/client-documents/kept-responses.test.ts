import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ASKERS_OF_SITE, createScheduler, NoPlace, TURN } from '../outbound/scheduler.ts';
import { createVouchers } from '../vouchers.ts';
import { DocumentFailure } from './faults.ts';
import type { Fetched } from './fetch-json.ts';
import { parseDocumentHosts } from './hosts.ts';
import { createKeptResponses } from './kept-responses.ts';

const MOST = 3;
const HOUR = 3_600_000;

const { ofAddress } = createVouchers(parseDocumentHosts('https://a.example/vouched/0,any'), '');

function createWorld() {
  const world = { now: 0, monotonic: 0, fetched: [] as string[] };
  const clock = () => world.now;
  const scheduler = createScheduler({ places: 8, patience: 1_000, isLate: () => false });
  const kept = createKeptResponses({
    clock,
    scheduler,
    monotonic: () => world.monotonic,
    async fetch({ address }) {
      world.fetched.push(address);
      if (address.includes('bad')) throw new DocumentFailure('document_status');
      return { body: Buffer.from(address), keep: 300_000 };
    },
    read: (_, { body }) => String(body),
    most: MOST,
  });
  const find = (path: string, { isKnown = false, from = ofAddress } = {}) =>
    kept
      .find({ ...from(`https://a.example/${path}`), asker: 'a', isKnown })
      .catch((error) => error.message);
  /** Whether it had to be fetched. */
  const isFetched = async (path: string, options?: Parameters<typeof find>[1]) => {
    const before = world.fetched.length;
    await find(path, options);
    return world.fetched.length > before;
  };
  return { world, find, isFetched };
}

const many = Array.from({ length: 2 * MOST }, (_, index) => index);

test('what is used last is kept', async () => {
  const { find, isFetched } = createWorld();
  for (const path of ['0', '1', '2', '0', '3']) await find(path);
  expect(await isFetched('0')).toBe(false);
  expect(await isFetched('1')).toBe(true);
});

test('made-up addresses that fail push out only each other', async () => {
  const { world, find, isFetched } = createWorld();
  await find('other');
  await find('known', { isKnown: true });
  // Known ones too: at a host that the setting names, everybody can make them up.
  for (const index of many) await find(`bad/${index}`, { isKnown: index % 2 === 0 });
  expect(await isFetched('other')).toBe(false);
  expect(await isFetched('known', { isKnown: true })).toBe(false);
  // It is too early to look again at the newest of them.
  expect(await isFetched(`bad/${many.at(-1)}`)).toBe(false);
  expect(await isFetched('bad/0')).toBe(true);
  // Whatever the clock is set to meanwhile.
  world.now -= HOUR;
  world.monotonic += 5_000;
  expect(await isFetched('bad/0')).toBe(true);
});

test('good ones that strangers make push out none that has an application', async () => {
  const { find, isFetched } = createWorld();
  await find('0', { isKnown: true });
  // Of a stranger, until it is approved.
  await find('1');
  expect(await isFetched('1', { isKnown: true })).toBe(false);
  for (const index of many) await find(`made-up/${index}`);
  expect(await isFetched('0', { isKnown: true })).toBe(false);
  expect(await isFetched('1', { isKnown: true })).toBe(false);
  expect(await isFetched('made-up/0')).toBe(true);
});

test('applications of strangers push out none that the operator vouches for', async () => {
  const { world, find, isFetched } = createWorld();
  await find('vouched/0', { isKnown: true });
  for (const index of many) await find(`${index}`, { isKnown: true });
  expect(world.fetched).toHaveLength(1 + many.length);
  expect(await isFetched('vouched/0', { isKnown: true })).toBe(false);
});

test('what was read while the operator vouched for it is read again once nobody does', async () => {
  const { find, isFetched } = createWorld();
  const from = createVouchers(parseDocumentHosts('any'), '').ofAddress;
  await find('vouched/0');
  expect(await isFetched('vouched/0', { from })).toBe(true);
  expect(await isFetched('vouched/0', { from })).toBe(false);
});

test('who asks for what another one waits for waits in no line but its own', async () => {
  const clock = () => 0;
  const scheduler = createScheduler({
    ...{ places: 8, perAsker: 2, patience: 60_000, isLate: () => false },
  });
  const held: (() => void)[] = [];
  const fetched: string[] = [];
  const kept = createKeptResponses({
    clock,
    scheduler,
    async fetch({ address }) {
      fetched.push(address);
      if (address.includes('slow')) await new Promise<void>((resolve) => held.push(resolve));
      return { body: Buffer.from(address), keep: 300_000 };
    },
    read: (_, { body }) => String(body),
  });
  const find = (address: string, asker: string) =>
    kept.find({ ...ofAddress(address), asker, isKnown: false });
  const busy = [1, 2].map((index) => find(`https://slow${index}.example/`, 'busy'));
  const behind = find('https://honest.example/', 'busy');
  expect(await find('https://honest.example/', 'other')).toBe('https://honest.example/');
  for (const send of held) send();
  await Promise.all([...busy, behind]);
  // What has come meanwhile is not fetched again.
  expect(fetched.filter((address) => address.includes('honest'))).toHaveLength(1);
});

test('strangers, known or not, have so many bytes, and push out none that the operator vouches for', async () => {
  const vouchers = createVouchers(parseDocumentHosts('vouched.example,any'), '');
  const clock = () => 0;
  const fetched: string[] = [];
  const kept = createKeptResponses({
    clock,
    scheduler: createScheduler({ places: 8, patience: 1_000, isLate: () => false }),
    async fetch({ address }) {
      fetched.push(address);
      return { body: Buffer.alloc(100), keep: 300_000 };
    },
    read: () => `keys ${fetched.length}`,
    mostBytesOfStrangers: 250,
    isTheSameForAll: true,
  });
  async function isFetched(address: string) {
    const before = fetched.length;
    await kept.find({ ...vouchers.ofAddress(address), asker: 'a', isKnown: true });
    return fetched.length > before;
  }
  const vouched = [1, 2, 3].map((index) => `https://vouched.example/${index}`);
  for (const address of vouched) await isFetched(address);
  // A stranger's client names the same keys, and looks for newer ones.
  const client = { document: { uri: 'https://stranger.example/client.json' } };
  const [same = ''] = vouched;
  const ofStranger = { ...vouchers.ofAddress(same, client), asker: 'a', isKnown: true };
  const newer = await kept.refresh(ofStranger);
  expect(newer).toBe('keys 4');
  expect(await kept.find({ ...vouchers.ofAddress(same), asker: 'a', isKnown: true })).toBe(newer);
  for (const index of [1, 2, 3]) await isFetched(`https://stranger.example/${index}`);
  expect(await isFetched('https://stranger.example/3')).toBe(false);
  expect(await isFetched('https://stranger.example/2')).toBe(false);
  expect(await isFetched('https://stranger.example/1')).toBe(true);
  expect(await Promise.all(vouched.map(isFetched))).toEqual([false, false, false]);
});

test('one site joins the fetch of another so many times, and is refused at once beyond', async () => {
  const clock = () => 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const kept = createKeptResponses({
    clock,
    scheduler: createScheduler({
      ...{ places: 8, perAsker: 2, patience: 1_000, isLate: () => false },
    }),
    async fetch() {
      await promise;
      return { body: Buffer.from('good'), keep: 0 };
    },
    read: (_, { body }) => String(body),
  });
  const find = (site: string, asker = site) =>
    kept.find({ ...ofAddress('https://slow.example/'), asker, site, isKnown: false });
  const first = find('first');
  const all = () =>
    Array.from({ length: 2 * ASKERS_OF_SITE }, (_, index) => find('one', `${index}`));
  const joined = all();
  await expect(find('one', 'another')).rejects.toThrow(NoPlace);
  const other = find('other');
  resolve();
  expect(new Set(await Promise.all([first, other, ...joined]))).toEqual(new Set(['good']));
  // Those that have ended are not counted.
  await expect(Promise.all([find('first'), ...all()])).resolves.toContain('good');
});

/** One place, and fetches that the test ends. */
function createHeldWorld() {
  const world = { now: 0, waits: true };
  const clock = () => world.now;
  const held: { address: string; send(): void }[] = [];
  const scheduler = createScheduler({
    ...{ places: 2, perAsker: 1, patience: 60_000, isLate: () => false },
  });
  const kept = createKeptResponses({
    clock,
    scheduler,
    fetch: ({ address }, { signal }) =>
      new Promise<Fetched>((resolve, reject) => {
        const send = () => resolve({ body: Buffer.from(`${address} ${held.length}`), keep: HOUR });
        if (!world.waits) return send();
        held.push({ address, send });
        signal.addEventListener('abort', () => reject(new DocumentFailure('document_late')));
      }),
    read: (_, { body }) => String(body),
  });
  const wanted = (host: string, asker: string) => ({
    ...ofAddress(`https://${host}.example/`),
    ...{ asker, isKnown: false },
  });
  const arrived = async (host: string) => {
    const isThere = () => held.some(({ address }) => address === `https://${host}.example/`);
    while (!isThere()) await turn();
  };
  return { world, scheduler, kept, held, wanted, arrived };
}

test.each(['find', 'refresh'] as const)(
  'a fetch that was ended for others may be begun again at once (%s)',
  async (how) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { world, kept, held, wanted, arrived } = createHeldWorld();
    const first = kept[how](wanted('1', '1')).catch(() => null);
    const second = kept.find(wanted('2', '2'));
    await arrived('2');
    const third = kept.find(wanted('3', '3'));
    vi.advanceTimersByTime(TURN);
    expect(await first).toBe(null);
    await arrived('3');
    for (const { send } of held) send();
    await Promise.all([second, third]);
    world.waits = false;
    expect(await kept[how](wanted('1', '1'))).toMatch(/^https:\/\/1/);
  },
);

test('who waited for a place gives it back where another fetches the same', async () => {
  const { scheduler, kept, held, wanted, arrived } = createHeldWorld();
  const all = ['1', '2'].map((host) => kept.find(wanted(host, host)));
  await arrived('2');
  const same = ['3', '4'].map((asker) => kept.find(wanted('same', asker)));
  expect(scheduler.load()).toEqual({ running: 2, waiting: 2 });
  for (const { send } of held) send();
  await Promise.allSettled(all);
  await arrived('same');
  await turn();
  expect(scheduler.load()).toEqual({ running: 1, waiting: 0 });
  held.at(-1)?.send();
  expect(new Set(await Promise.all(same)).size).toBe(1);
});

test('who looks for newer ones and finds no place keeps nobody else from looking', async () => {
  const { world, kept, held, wanted, arrived } = createHeldWorld();
  world.waits = false;
  const before = await kept.find(wanted('honest', 'somebody'));
  world.waits = true;
  const busy = ['silent', 'more'].map((host) => kept.find(wanted(host, 'busy')));
  await arrived('silent');
  // Its place and its line are full.
  expect(await kept.refresh(wanted('honest', 'busy'))).toBe(null);
  const found = kept.refresh(wanted('honest', 'somebody'));
  await arrived('honest');
  // So does who comes meanwhile, and once it is there.
  const joined = kept.refresh(wanted('honest', 'another'));
  for (const { send } of held) send();
  expect(await found).not.toBe(before);
  expect(await joined).toBe(await found);
  expect(await kept.refresh(wanted('honest', 'another'))).toBe(await found);
  expect(held.filter(({ address }) => address.includes('honest'))).toHaveLength(1);
  await arrived('more');
  held.at(-1)?.send();
  await Promise.allSettled(busy);
});
