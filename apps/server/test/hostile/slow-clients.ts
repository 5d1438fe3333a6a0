import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Connections that are all slow in one way. */
export interface SlowCalls {
  /** Sent immediately. */
  first: string;
  /** Sent repeatedly after it. Undefined: nothing. */
  more?: string;
  /** Milliseconds between two of these. */
  every: number;
  /** Whether the client reads the responses. */
  reads: boolean;
  count: number;
}

/** The messages to and from the process of the clients. */
export type ToClients = { url: string; from: string; calls: SlowCalls } | 'go';
export type FromClients = 'ready' | { closed: number };

const script = fileURLToPath(new URL('./slow-clients-process.ts', import.meta.url));

let processes = 0;

/**
 * Slow connections from another process and another address: an address has about 28,000 ports for
 * outgoing connections.
 */
export class SlowClients {
  readonly #child: ChildProcess;
  /** How many connections the server has closed so far. */
  closed = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message: FromClients) => {
      if (message !== 'ready') this.closed = message.closed;
    });
  }

  static async start({ url }: { url: string }, calls: SlowCalls): Promise<SlowClients> {
    const child = fork(script);
    const clients = new SlowClients(child);
    const from = `127.0.1.${(processes++ % 250) + 1}`;
    child.send({ url, from, calls } satisfies ToClients);
    await once(child, 'message');
    return clients;
  }

  /** Opens the connections. */
  go(): void {
    this.#child.send('go' satisfies ToClients);
  }

  /** Ends the process and its remaining connections. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
