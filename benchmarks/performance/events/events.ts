import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ratioOver } from '../against/ratio.ts';
import { type Benchmark, ratioTarget, type Target } from '../benchmark.ts';
import type { Grant } from '../contender.ts';
import { startLatchkey } from '../contenders/latchkey.ts';
import { type Harness, onMongodb, withHarness } from '../harness.ts';
import { withConnections } from '../load.ts';
import { CONNECTIONS, convertAll, measure } from '../measure.ts';
import { logProgress } from '../progress.ts';
import type { Sample } from '../results.ts';
import { restWire } from '../wires/rest.ts';
import { type StoreFigures, table } from './report.ts';

/** How long receivers take to answer. */
const RECEIVERS_TAKE_MS = [5, 50, 500] as const;
const [QUICK_MS, USUAL_MS] = RECEIVERS_TAKE_MS;

/** Ends of one call, and how soon one process is to have told them. */
const ENDS = 2_500;
const ENDS_TOLD_WITHIN_SECONDS = 10;

interface Sizes {
  pairs: number;
  requests: number;
  backlog: number;
  ends: number;
}

/** An address that takes its time to answer, once it is not held. */
async function startReceiver(takes: number) {
  /** A message that was tried twice is one. */
  const heard = new Set<unknown>();
  let isHeld = false;
  let held: (() => void)[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const answer = () => {
      // Its sender has given up.
      if (response.destroyed) return;
      heard.add(request.headers['webhook-id']);
      setTimeout(() => response.writeHead(204).end(), takes);
    };
    if (isHeld) held.push(answer);
    else answer();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    get heard() {
      return heard.size;
    },
    take(milliseconds: number) {
      takes = milliseconds;
    },
    hold(shouldHold: boolean) {
      isHeld = shouldHold;
      for (const answer of held) answer();
      held = [];
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>;

const eventsSettings = () => ({
  EVENTS_KEY: randomBytes(32).toString('hex'),
  OUTBOUND_ALLOW: 'private,http',
});

const start = (harness: Harness, name: string, settings = {}) =>
  harness.start(name, (options) => startLatchkey({ ...options, settings }, { wire: restWire }));

type Server = Awaited<ReturnType<typeof start>>;

async function addEndpoint(
  { administer }: Server,
  { url }: Receiver,
  members: object = {},
): Promise<string> {
  const request = { method: 'POST', path: '/admin/endpoints', body: { url, ...members } };
  const [endpoint] = await administer([request]);
  return endpoint?.id ?? '';
}

/** Converts and revokes. */
async function round(
  server: Server,
  requests: number,
): Promise<Record<'convert' | 'revoke', Sample>> {
  const codes = await server.issue(requests);
  return withConnections(server.url, CONNECTIONS, async (connections) => {
    const converted = await convertAll(server, connections, codes);
    const grants: Grant[] = converted.outputs;
    const revoked = await measure(server, connections, server.wire.revoke, grants);
    return { convert: converted.sample, revoke: revoked.sample };
  });
}

/** With events, and a process apart that delivers, as a ratio to without. */
async function measureCost(harness: Harness, receiver: Receiver, { pairs, requests }: Sizes) {
  const cpu = { convert: [] as [number, number][], revoke: [] as [number, number][] };
  for (let pair = 0; pair < pairs; pair++) {
    const silent = await start(harness, `pair ${pair + 1} of ${pairs}, without events`);
    const telling = await start(harness, 'with events', eventsSettings());
    await addEndpoint(telling, receiver);
    const apart = telling.startAnother();
    await apart.waitForOutput(/^Latchkey listens/m);
    for (let turn = -1; turn < 2; turn++) {
      const order = turn % 2 === 0 ? [silent, telling] : [telling, silent];
      const samples = new Map<Server, Awaited<ReturnType<typeof round>>>();
      for (const server of order) samples.set(server, await round(server, requests));
      if (turn < 0) continue;
      for (const operation of ['convert', 'revoke'] as const) {
        const [without, of] = [silent, telling].map((one) => samples.get(one)?.[operation].cpu);
        if (without && of) cpu[operation].push([without, of]);
      }
    }
    for (const process of [apart, silent.process, telling.process]) await process.stop();
  }
  return { convert: ratioOver(cpu.convert), revoke: ratioOver(cpu.revoke) };
}

/** A backlog for one endpoint, worked off by the only process, idle and beside conversions. */
async function measureBacklog(harness: Harness, { backlog, requests }: Sizes) {
  const receiver = await startReceiver(QUICK_MS);
  const server = await start(harness, 'a backlog', eventsSettings());
  const id = await addEndpoint(server, receiver, { types: ['grant.created'] });
  let made = 0;
  async function convert(count: number) {
    const codes = await server.issue(count);
    made += count;
    return () =>
      withConnections(server.url, CONNECTIONS, (connections) =>
        convertAll(server, connections, codes),
      );
  }
  // So that the endpoint is known to work.
  await (await convert(50))();
  await untilHeard(receiver, made);

  /** What waits for its next try becomes due at once. */
  async function release() {
    receiver.hold(false);
    const body = { since: new Date(0).toISOString() };
    const path = `/admin/endpoints/${id}/replay`;
    await server.administer([{ method: 'POST', path, body }]);
  }

  const perSecond: number[] = [];
  for (const takes of RECEIVERS_TAKE_MS) {
    receiver.hold(true);
    const isMade = made + backlog;
    while (made < isMade) await (await convert(requests))();
    receiver.take(takes);
    const already = receiver.heard;
    const begun = performance.now();
    await release();
    await untilHeard(receiver, made);
    perSecond.push(((made - already) / (performance.now() - begun)) * 1_000);
  }

  receiver.take(QUICK_MS);
  const throughputs: [number, number][] = [];
  let [told, milliseconds] = [0, 0];
  // Long enough that messages are told beside them.
  const many = 10 * requests;
  for (let turn = 0; turn < 3; turn++) {
    const next = await convert(many);
    receiver.hold(true);
    const alone = await (await convert(many))();
    await release();
    // A busy process takes what has been due for a second.
    await sleep(1_000);
    const already = receiver.heard;
    const from = performance.now();
    const beside = await next();
    told += receiver.heard - already;
    milliseconds += performance.now() - from;
    throughputs.push([alone.sample.throughput, beside.sample.throughput]);
    await untilHeard(receiver, made);
  }
  await server.process.stop();
  receiver.close();
  return {
    perSecond,
    besidePerSecond: (told / milliseconds) * 1_000,
    throughput: ratioOver(throughputs).ratio,
  };
}

/** The seconds until one process has told what one call has ended. */
async function measureEnds(harness: Harness, { ends, requests }: Sizes): Promise<number> {
  const receiver = await startReceiver(USUAL_MS);
  const server = await start(harness, 'many ends in one call', eventsSettings());
  await addEndpoint(server, receiver, { types: ['grant.revoked'] });
  // So that the endpoint is known to work.
  await round(server, 1);
  await untilHeard(receiver, 1);
  for (let made = 0; made < ends; made += requests) {
    const codes = await server.issue(Math.min(requests, ends - made));
    await withConnections(server.url, CONNECTIONS, (connections) =>
      convertAll(server, connections, codes),
    );
  }
  const { application_id } = server;
  const begun = performance.now();
  await server.administer([
    { method: 'POST', path: '/admin/grants/revoke', body: { application_id } },
  ]);
  await untilHeard(receiver, 1 + ends);
  const seconds = (performance.now() - begun) / 1_000;
  await server.process.stop();
  receiver.close();
  return seconds;
}

async function untilHeard(receiver: Receiver, count: number): Promise<void> {
  while (receiver.heard < count) await sleep(10);
}

async function measureStore(store: string, harness: Harness, sizes: Sizes): Promise<StoreFigures> {
  const receiver = await startReceiver(QUICK_MS);
  try {
    const cost = await measureCost(harness, receiver, sizes);
    logProgress(`${store}: many ends …`);
    const endsToldIn = await measureEnds(harness, sizes);
    logProgress(`${store}: a backlog …`);
    return { store, cost, endsToldIn, backlog: await measureBacklog(harness, sizes) };
  } finally {
    receiver.close();
  }
}

/** What events cost the operations that make them, and how fast they are told. */
export const events: Benchmark = {
  page: 'events',
  title: 'Events',
  async run(mongodbs, quick) {
    const sizes = quick
      ? { pairs: 2, requests: 200, backlog: 400, ends: 400 }
      : { pairs: 8, requests: 1_000, backlog: 5_000, ends: ENDS };
    const stores = [
      await withHarness(undefined, [], (harness) => measureStore('SQLite', harness, sizes)),
    ];
    const [mongodb] = mongodbs;
    const conditions = [
      `${sizes.pairs} pairs of servers`,
      `${CONNECTIONS} connections`,
      `a receiver that answers in ${QUICK_MS} ms`,
      `a backlog of ${sizes.backlog} messages`,
      `${sizes.ends} ends in one call, told to a receiver that answers in ${USUAL_MS} ms`,
    ];
    if (mongodb) {
      stores.push(
        await onMongodb(mongodb, (harness, { description }) => {
          conditions.push(description);
          return measureStore(mongodb.name, harness, { ...sizes, requests: sizes.requests / 4 });
        }),
      );
    }
    return { conditions, text: table(stores), targets: stores.flatMap(targetsOf) };
  },
};

function targetsOf({ store, cost, endsToldIn, backlog }: StoreFigures): Target[] {
  const most = store === 'SQLite' ? 1.15 : 1.2;
  return [
    ...(['convert', 'revoke'] as const).map((operation) =>
      ratioTarget(
        `${store}: CPU of ${operation} with events at most ${most} × that without`,
        cost[operation].ratio,
        ['at most', most],
      ),
    ),
    {
      text: `${store}: one process tells the ends of one call within ${ENDS_TOLD_WITHIN_SECONDS} s`,
      measured: `${endsToldIn.toFixed(1)} s`,
      isMet: endsToldIn <= ENDS_TOLD_WITHIN_SECONDS,
    },
    {
      text: `${store}: a process works off at least 200 messages a second, at ${USUAL_MS} ms too`,
      measured: `${backlog.perSecond.slice(0, 2).map(Math.round).join(' and ')} a second`,
      isMet: backlog.perSecond.slice(0, 2).every((count) => count >= 200),
    },
    ratioTarget(
      `${store}: beside that, convert keeps at least 0.9 × its throughput`,
      backlog.throughput,
      ['at least', 0.9],
    ),
  ];
}
