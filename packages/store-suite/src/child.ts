import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Store } from '@latchkey/store/store';
import type { TestDatabase } from './harness.ts';

/** A call of a method of the store, by name. */
export type StoreCall = {
  [Method in StoreMethod]: { method: Method; args: Parameters<NonNullable<Store[Method]>> };
}[StoreMethod];

type StoreMethod = Exclude<keyof Store, 'housekeeping'>;

/** The messages to `make-calls.ts`. */
export type ToChild = { load: StoreCall[] } | 'go';

/** The messages of `make-calls.ts`: ready once, loaded after a load, then each outcome. */
export type FromChild = 'ready' | 'loaded' | { index: number; outcome: Outcome };

/** The outcome of a call. A rejection is the code of its error, or its message. */
export type Outcome = { value: unknown } | { rejected: string };

const SCRIPT = fileURLToPath(new URL('./process.ts', import.meta.url));

/** A child process that opens the store and makes the calls that it is sent. */
export class StoreProcess {
  readonly #child: ChildProcess;
  #expected = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    // A loaded test would otherwise wait for a process that is gone until its timeout.
    child.setMaxListeners(0);
  }

  static async start({
    module,
    url,
    nodeArguments = [],
  }: Pick<TestDatabase, 'module' | 'url' | 'nodeArguments'>): Promise<StoreProcess> {
    const child = fork(SCRIPT, {
      // Without the options of the test runner.
      execArgv: [...nodeArguments],
      env: { ...process.env, STORE_MODULE: module, DATABASE_URL: url },
      // JSON has no bytes, and hashes are bytes.
      serialization: 'advanced',
    });
    const started = new StoreProcess(child);
    await started.#next('ready');
    return started;
  }

  /** Sends calls, which {@link go} starts, so that several processes can start together. */
  async load(calls: StoreCall[]): Promise<void> {
    const loaded = this.#next('loaded');
    this.#expected = calls.length;
    this.#send({ load: calls });
    await loaded;
  }

  /**
   * Makes the loaded calls concurrently.
   *
   * @param onOutcome - called with each outcome as it arrives
   * @returns the outcomes, in the order of the calls
   */
  go(onOutcome?: (index: number, outcome: Outcome) => void): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    let left = this.#expected;
    const done = this.#until((message) => {
      if (typeof message === 'string') return false;
      outcomes[message.index] = message.outcome;
      onOutcome?.(message.index, message.outcome);
      return --left === 0;
    });
    this.#send('go');
    return done.then(() => outcomes);
  }

  /** Kills it, like a power cut. */
  async kill(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }

  /** Lets it close the store and exit. */
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
 * Makes calls in several processes at the same time.
 *
 * @returns the results by process
 * @throws Error if a call was rejected
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
