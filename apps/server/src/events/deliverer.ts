import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { Clock, Milliseconds } from '../clock.ts';
import type { EndpointRecord } from '../store/records.ts';
import type { ClaimedDelivery, DueEndpoint, EndedTry, Store } from '../store/store.ts';
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
  /** The endpoint of each running try. A ping has a place of its own, and is not among them. */
  const places = new Set<DueEndpoint>();
  const running = new Set<Promise<void>>();
  let working: Promise<void> | null = null;
  let wake = Promise.withResolvers<void>();

  let ended: { ending: EndedTry; done: PromiseWithResolvers<void> }[] = [];
  let isWriting = false;
  let madeAt = Number.NEGATIVE_INFINITY;

  /** How many tries of each endpoint may begin. */
  function freePlaces(due: readonly DueEndpoint[]): { id: string; most: number }[] {
    let free = MOST - places.size;
    let freeOfDoubtful =
      MOST_OF_DOUBTFUL - [...places].filter(({ isDoubtful }) => isDoubtful).length;
    const runningOf = (endpoint: string) => [...places].filter(({ id }) => id === endpoint).length;
    return inRandomOrder(due).flatMap(({ id, isDoubtful }) => {
      const own = (isDoubtful ? MOST_OF_DOUBTFUL_ENDPOINT : MOST_OF_ENDPOINT) - runningOf(id);
      const most = Math.min(own, free, isDoubtful ? freeOfDoubtful : free);
      if (most <= 0) return [];
      free -= most;
      if (isDoubtful) freeOfDoubtful -= most;
      return [{ id, most }];
    });
  }

  /** @returns whether there may be more to do at once */
  async function look(): Promise<boolean> {
    const busy = isBusy();
    let more = false;
    if (!busy || performance.now() - madeAt >= LEFT_TO_OTHERS) {
      more = await store.makeDeliveries(clock());
      madeAt = performance.now();
    }
    if (places.size === MOST) return more;
    const now = busy ? clock() - LEFT_TO_OTHERS : clock();
    const due = await store.listDueEndpoints({ now, except: fullEndpoints() });
    const endpoints = freePlaces(due);
    if (endpoints.length === 0) return more;
    const claim = randomUUID();
    const claimed = await store.claimDeliveries({ now: clock(), claim, endpoints });
    const isDoubtful = new Map(due.map((endpoint) => [endpoint.id, endpoint.isDoubtful]));
    for (const one of claimed) {
      const place = { id: one.endpoint.id, isDoubtful: isDoubtful.get(one.endpoint.id) ?? true };
      places.add(place);
      void begin(one, () => {
        places.delete(place);
        wake.resolve();
      });
    }
    return more;
  }

  function fullEndpoints(): string[] {
    const counts = new Map<string, number>();
    for (const { id } of places) counts.set(id, (counts.get(id) ?? 0) + 1);
    return [...counts].flatMap(([id, count]) => (count >= MOST_OF_ENDPOINT ? [id] : []));
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

  function begin(claimed: ClaimedDelivery, sent: () => void): Promise<void> {
    const trying = tryOnce(claimed, sent)
      .catch((error) => {
        // Its claim ends, and another try begins then.
        onError(error);
      })
      .finally(() => {
        sent();
        running.delete(trying);
      });
    running.add(trying);
    return trying;
  }

  async function tryOnce({ delivery, endpoint }: ClaimedDelivery, sent: () => void): Promise<void> {
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
    // An endpoint that works gets the next message while this is written down.
    if (isDelivered) sent();
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
      // A look that is under way may begin tries.
      await working;
      while (running.size > 0) await Promise.all(running);
      cut.removeEventListener('abort', abort);
      sender.close();
    },
  };
}

function watchEventLoop(): () => boolean {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization > BUSY;
  };
}

/** So that no endpoint is always the first. */
function inRandomOrder<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, order: Math.random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ item }) => item);
}
