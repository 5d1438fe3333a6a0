import { copyOfError, copyOfResult } from './copy.ts';
import type { WithRequestId } from './request-id.ts';

interface Caller {
  readonly timeoutMs: number;
  /** In milliseconds of the monotonic clock. */
  readonly joinedAt: number;
  /** How many times its `timeoutMs` has passed since it joined. */
  timesUp: number;
}

/**
 * A call under way, and everyone who waits for it.
 *
 * Each caller has a time and a signal of its own and leaves by itself, while the request goes on for
 * the others; it is aborted when nobody is left. A timer and a listener for each caller, both gone
 * with its answer, rather than `AbortSignal.timeout` and `AbortSignal.any`: those leave something
 * behind for each call, which adds up on a signal that lives as long as the process.
 */
export class Flight<Result extends object> {
  readonly #stages: number;
  readonly #timeoutError: (timeoutMs: number) => Error;
  readonly #result: Promise<WithRequestId<Result>>;
  readonly #callers = new Set<Caller>();
  #controller = new AbortController();
  #stage = 1;
  #settled = false;
  #loss: Error | undefined;

  /**
   * @param stages - how many times its `timeoutMs` a caller waits before it leaves
   * @param timeoutError - makes what a caller gets whose time is up, or all of them
   * @param run - starts when the first caller has joined; its requests take the flight's `signal`
   */
  constructor(
    stages: 1 | 2,
    timeoutError: (timeoutMs: number) => Error,
    run: (flight: Flight<Result>) => Promise<WithRequestId<Result>>,
  ) {
    this.#stages = stages;
    this.#timeoutError = timeoutError;
    this.#result = Promise.resolve()
      .then(() => run(this))
      .finally(() => {
        this.#settled = true;
      });
    // Where everyone has left, nobody else hears of it.
    this.#result.catch(() => {});
  }

  /**
   * Aborts as soon as nobody has time left for this stage, with the `timeoutError` as its reason, or
   * everyone has left.
   */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** How long the most patient caller still waits in this stage. */
  get msLeft(): number {
    const ends = [...this.#callers].map((c) => c.joinedAt + c.timeoutMs * this.#stage);
    return Math.max(...ends) - performance.now();
  }

  /** False once the result is there, or everyone has left. */
  get canBeJoined(): boolean {
    return !this.#settled && this.#callers.size > 0;
  }

  /**
   * Starts the second stage: a new `signal`, and every caller has its `timeoutMs` once more.
   *
   * @param loss - why the first stage was in vain: what those get who leave from now on
   * @throws `loss` where nobody waits any more
   */
  startOver(loss: Error): void {
    if (this.#callers.size === 0) throw loss;
    this.#stage = 2;
    this.#loss = loss;
    this.#controller = new AbortController();
  }

  /**
   * Waits for the result, which all but the first get a copy of, as they do of an error: what one
   * of them does to it reaches no other.
   *
   * @throws what the run throws, or `timeoutError` makes; or the reason of `signal`, as it is
   */
  join(timeoutMs: number, signal: AbortSignal | undefined): Promise<WithRequestId<Result>> {
    const isFirst = this.#callers.size === 0;
    const caller = { timeoutMs, joinedAt: performance.now(), timesUp: 0 };
    this.#callers.add(caller);
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearInterval(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      // Rejects before it aborts, so that the reason wins over what comes of the abort.
      const leave = (reason: unknown) => {
        stop();
        reject(reason);
        this.#callers.delete(caller);
        this.#abortIfNobodyHasTime();
      };
      const onAbort = () => leave(signal?.reason);
      const onTimeUp = () => {
        caller.timesUp += 1;
        this.#abortIfNobodyHasTime();
        // The others have more time.
        if (caller.timesUp === this.#stages && !this.signal.aborted) {
          leave(this.#loss ?? this.#timeoutError(timeoutMs));
        }
      };
      const timer = setInterval(onTimeUp, timeoutMs);
      signal?.addEventListener('abort', onAbort);
      this.#result.finally(stop).then(
        (result) => resolve(isFirst ? result : copyOfResult(result)),
        (error) => reject(isFirst ? error : copyOfError(error)),
      );
    });
  }

  #abortIfNobodyHasTime(): void {
    const callers = [...this.#callers];
    if (callers.some(({ timesUp }) => timesUp < this.#stage)) return;
    const longest = Math.max(...callers.map((c) => c.timeoutMs));
    this.#controller.abort(callers.length > 0 ? this.#timeoutError(longest) : undefined);
  }
}
