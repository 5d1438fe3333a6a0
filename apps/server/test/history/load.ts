import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationName } from '@latchkey/schema';
import { invoke, type Json, type Request, unwrapped } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import type { Answer, Call, CallOperation, ServerName } from './history.ts';
import { isDone } from './outcomes.ts';
import type { Random } from './random.ts';
import type { ServerUrls } from './recorder.ts';
import { type Reply, replyTo } from './reply.ts';

// At most, of each pause.
const PAUSE_MS = 20;
const READS_AFTER_THE_END = 3;
const CUT = 0.1;
const PATIENCE_MS = 4_000;

export type Wire = 'REST' | 'tRPC';

export type Answered = Exclude<Reply, string>;

/** A call that is about to be made. */
export interface Made<Operation> {
  id: string;
  operation: Operation;
  server: ServerName;
  wire: Wire;
}

/** How a record is changed until it is gone. */
export interface Life<Operation> {
  random: Random;
  ask(operation: Operation): Promise<Call | null>;
  /** Asks until it is done, or the record is gone. */
  untilDone(operation: Operation): Promise<void>;
  pause(): Promise<void>;
}

/** Records of one sort that live during a run: each is changed until it is gone, and read on both servers meanwhile. */
export abstract class Load<
  Known extends { name: string } = { name: string },
  Operation extends CallOperation = CallOperation,
> {
  readonly calls: Call[] = [];
  readonly known: Known[] = [];
  readonly #urls: () => ServerUrls;
  readonly #now: () => number;
  #lives: Promise<unknown> = Promise.resolve();
  #named = 0;
  #made = 0;
  #isOver = false;

  /** Of who asks. It begins like the names of the records. */
  protected abstract readonly name: string;
  /** How many live at a time. */
  protected abstract readonly atOnce: number;
  protected abstract readonly reading: Operation;

  /** @returns null where nobody knows it, since the answer is lost, or none is given */
  protected abstract create(name: string, server: ServerName, index: number): Promise<Known | null>;
  protected abstract change(known: Known, life: Life<Operation>): Promise<void>;
  protected abstract requestFor(known: Known, made: Made<Operation>): Request;

  constructor(urls: () => ServerUrls, now: () => number) {
    this.#urls = urls;
    this.#now = now;
  }

  /** @param newRandom - called for each that lives at a time */
  begin(newRandom: () => Random): void {
    const liveOn = async (random: Random, index: number) => {
      while (!this.#isOver) await this.#live(random, index);
    };
    this.#lives = Promise.all(Array.from({ length: this.atOnce }, newRandom).map(liveOn));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#lives;
  }

  /** Reads each record once more, when there are no faults any more. */
  async readAll(): Promise<void> {
    for (const known of this.known) {
      const made = { operation: this.reading, server: 'A', wire: 'REST' } as const;
      const read = await this.#call(known, made, null);
      if (read?.answer == null) throw new Error(`The service did not answer (${known.name}).`);
    }
  }

  protected get isOver(): boolean {
    return this.#isOver;
  }

  protected wiresOf(_operation: Operation): readonly Wire[] {
    return ['REST', 'tRPC'];
  }

  /** @returns null where it is not known what the service did */
  protected async answerOf(
    _known: Known,
    { wire }: Made<Operation>,
    { status, json }: Answered,
  ): Promise<Answer | null> {
    const { error_code } = unwrapped(wire, json);
    return { status, ...(error_code && { error_code }) };
  }

  /** Without a record of the call. Null for anything but a success. */
  protected async bodyOf(
    server: ServerName,
    name: OperationName,
    input: Record<string, unknown>,
  ): Promise<Json | null> {
    const url = this.#urls()[server];
    const made = await invoke({ url }, 'REST', name, input, operator).catch(() => null);
    return made?.status === 200 ? made.body : null;
  }

  async #live(random: Random, index: number): Promise<void> {
    const name = `${this.name.charAt(0)}${++this.#named}`;
    const known = await this.create(name, random.pick(['A', 'B']), index);
    if (known === null) return void (await sleep(PAUSE_MS));
    this.known.push(known);
    const ask = (operation: Operation) => {
      const cutAfter = random.chance(CUT) ? random.integer(PAUSE_MS) : null;
      const wire = random.pick(this.wiresOf(operation));
      return this.#call(known, { operation, server: random.pick(['A', 'B']), wire }, cutAfter);
    };
    const pause = () => sleep(random.integer(PAUSE_MS));
    const untilDone = async (operation: Operation) => {
      for (;;) {
        const call = await ask(operation);
        if (this.#isOver || (call && (isDone(call) || isGone(call)))) return;
        await sleep(PAUSE_MS);
      }
    };
    let hasEnded = false;
    const read = async () => {
      for (let after = 0; after < READS_AFTER_THE_END && !this.#isOver; after += +hasEnded) {
        await ask(this.reading);
        await pause();
      }
    };
    const change = async () => {
      await this.change(known, { random, ask, untilDone, pause });
      hasEnded = true;
    };
    await Promise.all([read(), read(), change()]);
  }

  /** Null where nobody listens at that server, so that nothing was sent. */
  async #call(
    known: Known,
    asked: Omit<Made<Operation>, 'id'>,
    cutAfter: number | null,
  ): Promise<Call | null> {
    const made = { ...asked, id: `${this.name}/${++this.#made}` };
    const request = this.requestFor(known, made);
    const start = this.#now();
    const options = { cutAfter, patience: PATIENCE_MS };
    const reply = await replyTo(this.#urls()[made.server], request, options);
    if (reply === 'refused') return null;
    const end = this.#now();
    const answer = reply === 'lost' ? null : await this.answerOf(known, made, reply);
    const call = { ...made, grant: known.name, start, end: answer && end, answer };
    this.calls.push(call);
    return call;
  }
}

const isGone = ({ answer }: Call) => answer?.error_code?.endsWith('_not_found') ?? false;
