import { type ErrorDetails, LatchkeyError } from './errors.ts';
import { type WithResponse, withResponse } from './response-details.ts';
import type { Deadline } from './until-aborted.ts';

/** Concurrent calls with the same key share one run and its outcome. Nothing is kept afterwards. */
export class SingleFlight<Result extends object> {
  readonly #calls = new Map<string, SharedCall<Result>>();

  /** Joins the call in progress under this key, or the one that `start` makes if there is none. */
  async join(
    key: string,
    start: () => SharedCall<Result>,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<WithResponse<Result>> {
    let call = this.#calls.get(key);
    if (!call?.canBeJoined) {
      call = start();
      this.#calls.set(key, call);
    }
    try {
      return await call.join(timeoutMs, signal);
    } finally {
      if (!call.canBeJoined && this.#calls.get(key) === call) this.#calls.delete(key);
    }
  }
}

interface Caller {
  readonly timeoutMs: number;
  /** In milliseconds of the monotonic clock. */
  readonly joinedAt: number;
  /** How many times its `timeoutMs` has passed since it joined. */
  timesUp: number;
}

/**
 * A call in progress, and everyone who waits for it.
 *
 * Each caller has its own timeout and signal. A caller that leaves does not end the request for the
 * others; the request is aborted when nobody is left.
 */
export class SharedCall<Result extends object> implements Deadline {
  readonly #stages: number;
  readonly #timeoutError: (timeoutMs: number) => Error;
  readonly #result: Promise<WithResponse<Result>>;
  readonly #callers = new Set<Caller>();
  #controller = new AbortController();
  #stage = 1;
  #settled = false;
  #firstError: Error | undefined;

  /**
   * @param stages - how many times its `timeoutMs` a caller waits before it leaves
   * @param timeoutError - makes the error of a caller whose time is up, or of all of them
   * @param run - starts after the first caller has joined; its requests use the call as their deadline
   */
  constructor(
    stages: 1 | 2,
    timeoutError: (timeoutMs: number) => Error,
    run: (call: SharedCall<Result>) => Promise<WithResponse<Result>>,
  ) {
    this.#stages = stages;
    this.#timeoutError = timeoutError;
    this.#result = Promise.resolve()
      .then(() => run(this))
      .finally(() => {
        this.#settled = true;
      });
    // If every caller has left, nobody else handles the rejection.
    this.#result.catch(() => {});
  }

  /**
   * Aborts when no caller has time left in this stage, with the `timeoutError` as its reason, or
   * when every caller has left.
   */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Milliseconds that the most patient caller still waits in this stage. */
  get msLeft(): number {
    const ends = [...this.#callers].map((c) => c.joinedAt + c.timeoutMs * this.#stage);
    return Math.max(...ends) - performance.now();
  }

  /** False once there is an outcome, or every caller has left. */
  get canBeJoined(): boolean {
    return !this.#settled && this.#callers.size > 0;
  }

  /**
   * Starts the second stage: a new `signal`, and another `timeoutMs` for every caller.
   *
   * @param firstError - why the first stage failed; callers that time out from now on get it
   * @throws `firstError` if nobody waits any more
   */
  startOver(firstError: Error): void {
    if (this.#callers.size === 0) throw firstError;
    this.#stage = 2;
    this.#firstError = firstError;
    this.#controller = new AbortController();
  }

  /**
   * Waits for the outcome. The first caller gets the result or error itself. Every other caller gets
   * a copy, so that no caller can change what another one holds.
   *
   * @throws what the run throws, what `timeoutError` returns, or the reason of `signal`
   */
  join(timeoutMs: number, signal: AbortSignal | undefined): Promise<WithResponse<Result>> {
    const isFirst = this.#callers.size === 0;
    const caller = { timeoutMs, joinedAt: performance.now(), timesUp: 0 };
    this.#callers.add(caller);
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearInterval(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      // Rejects before it aborts the request, so that the reason wins over the error of the abort.
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
        // If the request was not aborted, other callers still have time.
        if (caller.timesUp === this.#stages && !this.signal.aborted) {
          leave(this.#firstError ?? this.#timeoutError(timeoutMs));
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

function copyOfResult<Result extends object>(result: WithResponse<Result>): WithResponse<Result> {
  return withResponse(structuredClone(result), result);
}

function copyOfError(error: unknown): unknown {
  if (!(error instanceof LatchkeyError)) return error;
  const { message, cause, response } = error;
  const Class = error.constructor as new (message: string, details: ErrorDetails) => LatchkeyError;
  return new Class(message, { ...error, cause, response });
}
