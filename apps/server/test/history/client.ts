import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { NODE_COMPILE_CACHE } from '../http/command-process.ts';
import type { KnownGrant, KnownSecret } from './generator.ts';
import type { Call } from './history.ts';
import type { GuardKind, ServerUrls } from './recorder.ts';

/** What a client process is told at its start. */
export interface ClientPlan {
  name: string;
  seed: number;
  /** Its stream of the seed's random numbers. */
  stream: number;
  /** Calls that it has under way at a time. */
  workers: number;
  start: bigint;
  bearers: readonly [string, string];
  urls: ServerUrls;
  /** Default: a sound one. */
  guard?: GuardKind | undefined;
}

/** What the driver tells `client-process.ts`. Secrets go this way only: they are on no disk. */
export type ToClient =
  | { plan: ClientPlan }
  | { grant: KnownGrant }
  | { secret: KnownSecret }
  | { urls: ServerUrls }
  | 'stop';

/** What `client-process.ts` tells: a secret it got, that calls were made, and in the end all of them. */
export type FromClient = { secret: KnownSecret } | { made: number } | { calls: Call[] };

const SCRIPT = fileURLToPath(new URL('./client-process.ts', import.meta.url));

/** A process that calls the servers. */
export class Client {
  readonly #child: ChildProcess;
  /** Resolves when it has ended, with what to throw where it should not have. */
  readonly ended: Promise<Error>;

  /** @param heard - hears of secrets, and of calls made */
  constructor(
    plan: ClientPlan,
    heard: (message: { secret: KnownSecret } | { made: number }) => void,
  ) {
    // Numbers of the clock are larger than JSON's, hence `advanced`. The options of the test runner
    // mean nothing in there.
    this.#child = fork(SCRIPT, {
      ...{ execArgv: [], serialization: 'advanced' },
      env: { ...process.env, NODE_COMPILE_CACHE },
    });
    this.ended = once(this.#child, 'exit').then(
      ([code, signal]) => new Error(`${plan.name} ended (${signal ?? code}).`),
    );
    this.#child.on('message', (message: FromClient) => {
      if (!('calls' in message)) heard(message);
    });
    this.tell({ plan });
  }

  tell(message: ToClient): void {
    this.#child.send(message);
  }

  /** Lets it finish what is under way; returns all that it did. It can be told more until its end. */
  async stop(): Promise<Call[]> {
    const calls = new Promise<Call[]>((resolve) => {
      this.#child.on('message', (message: FromClient) => {
        if ('calls' in message) resolve(message.calls);
      });
    });
    this.tell('stop');
    const result = await Promise.race([calls, this.ended]);
    if (result instanceof Error) throw result;
    return result;
  }

  async end(): Promise<void> {
    this.#child.disconnect();
    await this.ended;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
