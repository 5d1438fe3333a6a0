import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Connections that are all slow in one way. */
export interface SlowCalls {
  /** Sent at once. */
  first: string;
  /** Sent again and again after it; nothing where undefined. */
  more?: string;
  /** Milliseconds between one and the next. */
  every: number;
  /** Whether it takes what it is answered. */
  reads: boolean;
  count: number;
}

/** What the process of the callers is told, and what it tells. */
export type ToCallers = { url: string; from: string; calls: SlowCalls } | 'go';
export type FromCallers = 'ready' | { closed: number };

const script = fileURLToPath(new URL('./slow-callers-process.ts', import.meta.url));

let processes = 0;

/**
 * Slow connections from a process, and an address, of their own: an address has some 28,000 ports
 * to call from.
 */
export class SlowCallers {
  readonly #child: ChildProcess;
  /** How many connections the server has closed so far. */
  closed = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message: FromCallers) => {
      if (message !== 'ready') this.closed = message.closed;
    });
  }

  static async start({ url }: { url: string }, calls: SlowCalls): Promise<SlowCallers> {
    const child = fork(script);
    const callers = new SlowCallers(child);
    const from = `127.0.1.${(processes++ % 250) + 1}`;
    child.send({ url, from, calls } satisfies ToCallers);
    await once(child, 'message');
    return callers;
  }

  /** Begins to call. */
  go(): void {
    this.#child.send('go' satisfies ToCallers);
  }

  /** Ends the process, and with it the connections that are left. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
