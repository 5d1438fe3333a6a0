import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Store } from './store.ts';

/** A call of a method of the store, by name. */
export interface StoreCall {
  method: Exclude<keyof Store, 'isLocal'>;
  args: unknown[];
}

/** What the parent tells `suite-process.ts`. */
export type ToChild = { load: StoreCall[] } | 'go';

/** What `suite-process.ts` tells: ready once, loaded after a load, then each outcome as it comes. */
export type FromChild = 'ready' | 'loaded' | { index: number; outcome: Outcome };

/** What became of a call. A rejection tells the code of its error, or its message. */
export type Outcome = { value: unknown } | { rejected: string };

const SCRIPT = fileURLToPath(new URL('./suite-process.ts', import.meta.url));

/** A process of its own that has the store open and does the calls it is sent. */
export class StoreProcess {
  readonly #child: ChildProcess;
  #expected = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    // A loaded test would otherwise wait for a process that is gone until its timeout.
    child.setMaxListeners(0);
  }

  /** Starts one on the database of that URL. */
  static async start(url: string): Promise<StoreProcess> {
    const child = fork(SCRIPT, {
      // Not the options of the test runner, which mean nothing there.
      execArgv: [],
      env: { ...process.env, DATABASE_URL: url },
      // Hashes are bytes, which JSON has not.
      serialization: 'advanced',
    });
    const started = new StoreProcess(child);
    await started.#next('ready');
    return started;
  }

  /** Hands over calls, to be made at {@link go}: so that several processes can begin at once. */
  async load(calls: StoreCall[]): Promise<void> {
    const loaded = this.#next('loaded');
    this.#expected = calls.length;
    this.#send({ load: calls });
    await loaded;
  }

  /**
   * Makes the loaded calls, all at once.
   *
   * @param heard - hears of each outcome as it arrives
   * @returns their outcomes, in the order of the calls
   */
  go(heard?: (index: number, outcome: Outcome) => void): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    let left = this.#expected;
    const done = this.#until((message) => {
      if (typeof message === 'string') return false;
      outcomes[message.index] = message.outcome;
      heard?.(message.index, message.outcome);
      return --left === 0;
    });
    this.#send('go');
    return done.then(() => outcomes);
  }

  /** Ends it as a power cut would: it gets to do nothing more. */
  async kill(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }

  /** Lets it close the store and end. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.disconnect();
    await exit;
  }

  #send(message: ToChild): void {
    this.#child.send(message);
  }

  async #next(word: 'ready' | 'loaded'): Promise<void> {
    await this.#until((message) => message === word);
  }

  #until(isLast: (message: FromChild) => boolean): Promise<void> {
    const child = this.#child;
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        child.off('message', onMessage);
        child.off('exit', onExit);
        end();
      };
      const onMessage = (message: unknown) => {
        if (isLast(message as FromChild)) settle(resolve);
      };
      const onExit = (code: number | null, signal: string | null) =>
        settle(() => reject(new Error(`The process of the store ended (${signal ?? code}).`)));
      child.on('message', onMessage);
      child.on('exit', onExit);
    });
  }
}

/**
 * Has several processes make calls at the same time: all are handed theirs first, then released.
 *
 * @returns the results by process
 * @throws Error where a call was rejected
 */
export async function together(
  processes: StoreProcess[],
  callsOf: (index: number) => StoreCall[],
): Promise<unknown[][]> {
  await Promise.all(processes.map((process, index) => process.load(callsOf(index))));
  const outcomes = await Promise.all(processes.map((process) => process.go()));
  return outcomes.map((list) => list.map(resultOf));
}

function resultOf(outcome: Outcome): unknown {
  if ('rejected' in outcome) throw new Error(`A call was rejected: ${outcome.rejected}`);
  return outcome.value;
}
