import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import type { EndpointRecord } from '@latchkey/store/records';
import type { ClaimedDelivery, DueEndpoint, EndedTry, Store } from '@latchkey/store/store';
import type { Logger } from 'pino';
import type { Sender, SentAttempt } from './attempt.ts';
import { type EventsKeys, goodSecrets } from './endpoint-secret.ts';
import { messageHeaders } from './message.ts';
import { nextAttemptAt } from './timetable.ts';

export interface Deliverer {
  /** Makes the try of a ping, and writes down its end. */
  tryNow(claimed: ClaimedDelivery): Promise<void>;
  /** Begins to make deliveries, and to try those that are due. */
  watch(): void;
  /**
   * Begins no more tries, and cuts those that are running when the signal says so: they are no attempts, and
   * due at once.
   */
  close(cut: AbortSignal): Promise<void>;
}

export type Delivering = Pick<
  Store,
  'makeDeliveries' | 'listDueEndpoints' | 'claimDeliveries' | 'endTries' | 'releaseDeliveries'
>;

export interface DelivererOptions {
  clock: Clock;
  /** Read for each message: a process reads them again on SIGHUP. */
  keys(): EventsKeys;
  sender: Sender;
  userAgent: string;
  log: Logger;
  /** Each attempt, for metrics. */
  onAttempt(attempt: SentAttempt): void;
  /** An endpoint that its tries have disabled. */
  onDisabled(endpoint: EndpointRecord): void;
  onError(error: unknown): void;
  /** Whether requests take most of the process's time. Default: as the event loop has been since the last call. */
  isBusy?(this: void): boolean;
  /** The time that messages are signed with. Default: `clock`. */
  signingClock?: Clock | undefined;
  /** The longest wait for what is new, in milliseconds. Default: 250. */
  lookEvery?: Milliseconds | undefined;
}

// The first try begins within a second of its change.
const LOOK_EVERY: Milliseconds = 250;
const PAUSE_AFTER_ERROR: Milliseconds = 1_000;
/** A busy process leaves this time to the others. */
const LEFT_TO_OTHERS: Milliseconds = 1_000;
const BUSY = 0.7;

// An endpoint that is slow or silent holds up none of the others.
const MOST_OF_ENDPOINT = 4;
const MOST_OF_DOUBTFUL_ENDPOINT = 1;
const MOST = 64;
const MOST_OF_DOUBTFUL = 16;

// A claim costs as much as several tries, so the next ones of an endpoint that works are claimed with it.
const CLAIMED_OF_ENDPOINT = 16;
const CLAIMED = 256;
/** Then it is claimed anew, with what its endpoint has by then. */
const WAITS_AT_MOST: Milliseconds = 1_000;

/** What is claimed of an endpoint. A ping has a place of its own, and is not among it. */
interface Line {
  id: string;
  isDoubtful: boolean;
  running: Set<ClaimedDelivery>;
  waiting: Waiting[];
}

interface Waiting {
  claimed: ClaimedDelivery;
  since: number;
}

/** Whether an application may know them was asked at the claim: they are told at once, or claimed anew. */
const tellsNames = ({ delivery, endpoint }: ClaimedDelivery) =>
  delivery.type === 'account.updated' && endpoint.application_id !== null;

/** How many deliveries of an endpoint may be claimed. While it is told names, no more than can begin. */
function mostOf(isDoubtful: boolean, line: Line | undefined): number {
  if (isDoubtful) return MOST_OF_DOUBTFUL_ENDPOINT;
  const isToldNames = [...(line?.running ?? [])].some(tellsNames);
  return isToldNames ? MOST_OF_ENDPOINT : CLAIMED_OF_ENDPOINT;
}

const claimedOf = ({ running, waiting }: Line) => running.size + waiting.length;

export function createDeliverer(
  store: Delivering,
  {
    clock,
    keys,
    sender,
    userAgent,
    log,
    onAttempt,
    onDisabled,
    onError,
    isBusy = watchEventLoop(),
    signingClock = clock,
    lookEvery = LOOK_EVERY,
  }: DelivererOptions,
): Deliverer {
  const stopping = new AbortController();
  const cutting = new AbortController();
  const lines = new Map<string, Line>();
  const running = new Set<Promise<void>>();
  let working: Promise<void> | null = null;
  let wake = Promise.withResolvers<void>();

  let ended: { ending: EndedTry; done: PromiseWithResolvers<void> }[] = [];
  let isWriting = false;
  let madeAt = Number.NEGATIVE_INFINITY;
  let hasMore = false;

  /** How many deliveries of each endpoint may be claimed. */
  function room(due: readonly DueEndpoint[]): { id: string; most: number }[] {
    const all = [...lines.values()];
    let free = CLAIMED - all.reduce((sum, line) => sum + claimedOf(line), 0);
    let freeOfDoubtful = MOST_OF_DOUBTFUL - all.filter(({ isDoubtful }) => isDoubtful).length;
    return inRandomOrder(due).flatMap(({ id, isDoubtful }) => {
      const line = lines.get(id);
      const own = mostOf(isDoubtful, line) - (line === undefined ? 0 : claimedOf(line));
      const most = Math.min(own, free, isDoubtful ? freeOfDoubtful : free);
      if (most <= 0) return [];
      free -= most;
      if (isDoubtful) freeOfDoubtful -= most;
      return [{ id, most }];
    });
  }

  /** @returns whether there may be more to do at once */
  async function look(): Promise<boolean> {
    beginWaiting();
    const busy = isBusy();
    // What has ended asks for a look too.
    if (performance.now() - madeAt >= (busy ? LEFT_TO_OTHERS : lookEvery / 2)) {
      hasMore = await store.makeDeliveries(clock());
      madeAt = hasMore && !busy ? Number.NEGATIVE_INFINITY : performance.now();
    }
    const more = hasMore && !busy;
    const now = busy ? clock() - LEFT_TO_OTHERS : clock();
    const due = await store.listDueEndpoints({ now, except: fullEndpoints() });
    const endpoints = room(due);
    if (endpoints.length === 0) return more;
    const claim = randomUUID();
    const claimed = await store.claimDeliveries({ now: clock(), claim, endpoints });
    const isDoubtful = new Map(due.map((endpoint) => [endpoint.id, endpoint.isDoubtful]));
    for (const one of claimed) {
      const { id } = one.endpoint;
      const line = lines.get(id) ?? { id, isDoubtful: true, running: new Set(), waiting: [] };
      lines.set(id, line);
      line.isDoubtful = isDoubtful.get(id) ?? true;
      line.waiting.push({ claimed: one, since: performance.now() });
    }
    beginWaiting();
    for (const line of lines.values()) release(line, ({ claimed }) => tellsNames(claimed));
    return more;
  }

  const fullEndpoints = (): string[] =>
    [...lines].flatMap(([id, line]) => (claimedOf(line) > CLAIMED_OF_ENDPOINT / 2 ? [id] : []));

  function beginWaiting(): void {
    if (stopping.signal.aborted) return;
    // Here, so that none begins late however long a look waits for the database.
    const before = performance.now() - WAITS_AT_MOST;
    for (const line of lines.values()) release(line, ({ since }) => since <= before);
    for (;;) {
      const all = [...lines.values()];
      if (all.reduce((sum, line) => sum + line.running.size, 0) >= MOST) return;
      // Those with the fewest tries first.
      const [line] = all
        .filter(({ running, waiting }) => waiting.length > 0 && running.size < MOST_OF_ENDPOINT)
        .sort((one, other) => one.running.size - other.running.size);
      const claimed = line?.waiting.shift()?.claimed;
      if (line === undefined || claimed === undefined) return;
      line.running.add(claimed);
      void begin(claimed, (isDelivered) => {
        if (!line.running.delete(claimed)) return;
        if (!isDelivered) release(line);
        forget(line);
        if (line.waiting.length < MOST_OF_ENDPOINT) wake.resolve();
        beginWaiting();
      });
    }
  }

  function forget(line: Line): void {
    if (claimedOf(line) === 0) lines.delete(line.id);
  }

  /** Makes what waits due at once, so that any process may claim it. Default: all. */
  function release(line: Line, isReleased: (one: Waiting) => boolean = () => true): void {
    const released = line.waiting.filter(isReleased);
    line.waiting = line.waiting.filter((one) => !released.includes(one));
    forget(line);
    const claimed = released.map(({ claimed: { delivery } }) => delivery);
    for (const [claim, of] of Map.groupBy(claimed, ({ claim }) => claim)) {
      const ids = of.map(({ id }) => id);
      // Otherwise they are due when their claim ends.
      void untilDone(store.releaseDeliveries(claim, ids, clock()).catch(onError));
    }
  }

  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      wake = Promise.withResolvers();
      const idle = setTimeout(() => wake.resolve(), lookEvery);
      try {
        if (await look()) wake.resolve();
      } catch (error) {
        if (!stopping.signal.aborted) onError(error);
        wake = Promise.withResolvers();
        setTimeout(() => wake.resolve(), PAUSE_AFTER_ERROR).unref();
        stopping.signal.addEventListener('abort', () => wake.resolve(), { once: true });
      }
      await wake.promise;
      clearTimeout(idle);
    }
  }

  function begin(claimed: ClaimedDelivery, onEnd: (isDelivered: boolean) => void): Promise<void> {
    return untilDone(
      tryOnce(claimed, onEnd)
        // Its claim ends, and another try begins then.
        .catch(onError)
        .finally(() => onEnd(false)),
    );
  }

  function untilDone(work: Promise<void>): Promise<void> {
    const done = work.finally(() => running.delete(done));
    running.add(done);
    return done;
  }

  /** @param onEnd - an endpoint that works gets the next message while this one is written down */
  async function tryOnce(
    { delivery, endpoint }: ClaimedDelivery,
    onEnd: (isDelivered: boolean) => void,
  ): Promise<void> {
    const { id: delivery_id, claim, body, event_id: eventId } = delivery;
    const secrets = goodSecrets(keys(), endpoint, clock());
    const signing = { secrets, userAgent, now: signingClock() };
    const headers = messageHeaders({ eventId, body }, signing);
    const { url } = endpoint;
    const attempt = await sender.send({ url, headers, body, signal: cutting.signal });
    if (attempt === null) {
      await store.releaseDeliveries(claim, [delivery_id], clock());
      return;
    }
    onAttempt(attempt);
    const { retry_after_seconds: retryAfterSeconds, ...kept } = attempt;
    const isDelivered = kept.result === 'delivered';
    const end = clock();
    const next_attempt_at = isDelivered
      ? null
      : nextAttemptAt(delivery, { now: end, retryAfterSeconds });
    if (isDelivered) onEnd(true);
    await write({
      ...{ delivery_id, claim, endpoint_id: endpoint.id, url, attempt: kept, next_attempt_at },
      ...{ isGone: kept.status_code === 410, now: end },
    });
    if (!isDelivered && next_attempt_at !== null) return;
    const line = {
      delivery: delivery_id,
      ...{ endpoint_id: endpoint.id, event_id: eventId, type: delivery.type },
      ...{ result: kept.result, status_code: kept.status_code },
    };
    if (isDelivered) log.info(line, 'delivered');
    else log.warn(line, 'a delivery was given up');
  }

  /** The tries that end while others are written down are written together. */
  function write(ending: EndedTry): Promise<void> {
    const done = Promise.withResolvers<void>();
    ended.push({ ending, done });
    if (!isWriting) void writeAll();
    return done.promise;
  }

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (ended.length > 0) {
      const batch = ended;
      ended = [];
      try {
        const disabled = await store.endTries(batch.map(({ ending }) => ending));
        for (const endpoint of disabled) onDisabled(endpoint);
        for (const { done } of batch) done.resolve();
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    isWriting = false;
  }

  return {
    tryNow: (claimed) => begin(claimed, () => {}),

    watch() {
      working = work();
    },

    async close(cut) {
      stopping.abort();
      wake.resolve();
      const abort = () => cutting.abort();
      if (cut.aborted) abort();
      cut.addEventListener('abort', abort, { once: true });
      // A look that is under way may claim some.
      await working;
      for (const line of lines.values()) release(line);
      while (running.size > 0) await Promise.all(running);
      cut.removeEventListener('abort', abort);
      sender.close();
    },
  };
}

function watchEventLoop(): () => boolean {
  let last = performance.eventLoopUtilization();
  let busy = false;
  return () => {
    const { idle, active, utilization } = performance.eventLoopUtilization(last);
    // A moment says little.
    if (idle + active >= LOOK_EVERY) {
      busy = utilization > BUSY;
      last = performance.eventLoopUtilization();
    }
    return busy;
  };
}

/** So that no endpoint is always the first. */
function inRandomOrder<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, order: Math.random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ item }) => item);
}
