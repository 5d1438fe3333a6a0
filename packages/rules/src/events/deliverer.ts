import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import type { EndpointRecord } from '@latchkey/store/records';
import type { ClaimedDelivery, Store } from '@latchkey/store/store';
import type { Logger } from 'pino';
import type { Sender, SentAttempt } from './attempt.ts';
import { createEndings } from './endings.ts';
import { type EventsKeys, goodSecrets } from './endpoint-secret.ts';
import { createLoop } from './loop.ts';
import { createMaker } from './maker.ts';
import { messageHeaders } from './message.ts';
import { createPlaces, type TryEnd } from './places.ts';
import { type Beginning, createQueue } from './queue.ts';
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
  | 'makeDeliveries'
  | 'listDueEndpoints'
  | 'claimDeliveries'
  | 'endTries'
  | 'releaseDeliveries'
  | 'takeLease'
  | 'releaseLease'
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
/** A busy process leaves this time to the others. */
const LEFT_TO_OTHERS: Milliseconds = 1_000;
const BUSY = 0.7;

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
  const cutting = new AbortController();
  const running = new Set<Promise<void>>();
  const places = createPlaces();
  const queue = createQueue(places);
  const write = createEndings(store, onDisabled);
  const loop = createLoop({ look, every: lookEvery, onError });
  const maker = createMaker(store, {
    ...{ clock, holder: randomUUID() },
    // What has ended asks for a look too.
    ...{ every: lookEvery / 2, everyIfBusy: LEFT_TO_OTHERS },
  });

  /** @returns whether there may be more to do at once */
  async function look(): Promise<boolean> {
    // Here, so that none begins late however long a look waits for the database.
    release(queue.clearLate());
    beginWaiting();
    const busy = isBusy();
    const hasMore = await maker.make(busy);
    const since = performance.now();
    const isLeft = busy && !maker.isAlone();
    const left = isLeft ? LEFT_TO_OTHERS : maker.isOthers() ? lookEvery : 0;
    const due = await store.listDueEndpoints({ now: clock() - left, except: queue.full() });
    const wanted = queue.want(due, since);
    if (wanted.length === 0) return hasMore;
    let claimed: ClaimedDelivery[] = [];
    try {
      const endpoints = wanted.map(({ id, most }) => ({ id, most }));
      claimed = await store.claimDeliveries({ now: clock(), claim: randomUUID(), endpoints });
    } finally {
      for (const beginning of queue.put(wanted, claimed)) begin(beginning);
    }
    beginWaiting();
    release(queue.clearPersonal());
    return hasMore;
  }

  function beginWaiting(): void {
    if (loop.isStopping) return;
    for (let next = queue.next(); next !== null; next = queue.next()) begin(next);
  }

  function begin({ claimed, place }: Beginning): void {
    if (loop.isStopping) {
      places.leave(place, null);
      release([claimed]);
      return;
    }
    void tryUntilDone(claimed, (end) => {
      places.leave(place, end);
      const { id } = claimed.endpoint;
      if (!end?.isDelivered) release(queue.clear(id));
      if (queue.wantsMore(id)) loop.wake();
      beginWaiting();
    });
  }

  /** Makes deliveries due at once, so that any process may claim them. */
  function release(claimed: readonly ClaimedDelivery[]): void {
    const deliveries = claimed.map(({ delivery }) => delivery);
    for (const [claim, of] of Map.groupBy(deliveries, ({ claim }) => claim)) {
      const ids = of.map(({ id }) => id);
      // Otherwise they are due when their claim ends.
      void untilDone(store.releaseDeliveries(claim, ids, clock()).catch(onError));
    }
  }

  function tryUntilDone(
    claimed: ClaimedDelivery,
    onEnd: (end: TryEnd | null) => void,
  ): Promise<void> {
    let hasEnded = false;
    const endOnce = (end: TryEnd | null) => {
      if (!hasEnded) onEnd(end);
      hasEnded = true;
    };
    // Its claim ends after an error, and another try begins then.
    return untilDone(
      tryOnce(claimed, endOnce)
        .catch(onError)
        .finally(() => endOnce(null)),
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
    onEnd: (end: TryEnd) => void,
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
    const end = { isDelivered, duration_ms: kept.duration_ms };
    const now = clock();
    const next_attempt_at = isDelivered
      ? null
      : nextAttemptAt(delivery, { now, retryAfterSeconds });
    if (isDelivered) onEnd(end);
    await write({
      ...{ delivery_id, claim, endpoint_id: endpoint.id, url, attempt: kept, next_attempt_at },
      ...{ isGone: kept.status_code === 410, now },
    });
    if (!isDelivered) onEnd(end);
    if (!isDelivered && next_attempt_at !== null) return;
    const line = {
      delivery: delivery_id,
      ...{ endpoint_id: endpoint.id, event_id: eventId, type: delivery.type },
      ...{ result: kept.result, status_code: kept.status_code },
    };
    if (isDelivered) log.info(line, 'delivered');
    else log.warn(line, 'a delivery was given up');
  }

  return {
    tryNow: (claimed) => tryUntilDone(claimed, () => {}),

    watch: loop.start,

    async close(cut) {
      const abort = () => cutting.abort();
      if (cut.aborted) abort();
      cut.addEventListener('abort', abort, { once: true });
      // A look that is under way may claim some.
      await loop.stop();
      release(queue.clear());
      await maker.giveBack().catch(onError);
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
