import { setTimeout as sleep } from 'node:timers/promises';
import { invoke, requestOf, unwrapped } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import type { Call, ServerName } from './history.ts';
import { isDone, isRefused } from './outcomes.ts';
import type { Random } from './random.ts';
import type { ServerUrls } from './recorder.ts';
import { replyTo } from './reply.ts';

// At most, of each pause.
const PAUSE_MS = 20;
const LIFE_MS = 200;
const USES_AFTER_THE_END = 3;
const CUT = 0.1;
const PATIENCE_MS = 4_000;

interface KnownKey {
  name: string;
  id: string;
  bearer: string;
}

/** Makes keys of the operator, uses them on both servers, and deletes them meanwhile. */
export class KeyLoad {
  readonly calls: Call[] = [];
  readonly #keys: KnownKey[] = [];
  readonly #urls: () => ServerUrls;
  readonly #now: () => number;
  #lives: Promise<void>[] = [];
  #isOver = false;

  constructor(urls: () => ServerUrls, now: () => number) {
    this.#urls = urls;
    this.#now = now;
  }

  /** @param randoms - one for each key that lives at a time */
  begin(randoms: readonly Random[]): void {
    this.#lives = randoms.map(async (random) => {
      while (!this.#isOver) await this.#live(random);
    });
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#lives);
  }

  /** Uses every key once more, when there are no faults any more. */
  async readAll(): Promise<void> {
    for (const key of this.#keys) {
      const used = await this.#call(key, 'use_key', 'A', 'REST', null);
      if (used?.answer == null) throw new Error(`The service did not answer (${key.name}).`);
    }
  }

  async #live(random: Random): Promise<void> {
    const key = await this.#create(random.pick(['A', 'B']));
    if (key === null) return void (await sleep(PAUSE_MS));
    const ask = (operation: 'use_key' | 'delete_key') => {
      const cutAfter = random.chance(CUT) ? random.integer(PAUSE_MS) : null;
      const wire = random.pick(['REST', 'tRPC'] as const);
      return this.#call(key, operation, random.pick(['A', 'B']), wire, cutAfter);
    };
    let isDeleted = false;
    const use = async () => {
      for (let after = 0; after < USES_AFTER_THE_END && !this.#isOver; after += +isDeleted) {
        await ask('use_key');
        await sleep(random.integer(PAUSE_MS));
      }
    };
    const remove = async () => {
      await sleep(random.integer(LIFE_MS));
      while (!isDeleted && !this.#isOver) {
        const call = await ask('delete_key');
        isDeleted = call !== null && (isDone(call) || isRefused(call, 'key_not_found'));
        if (!isDeleted) await sleep(PAUSE_MS);
      }
    };
    await Promise.all([use(), use(), remove()]);
  }

  /** Where the answer is lost, or none is given, nobody knows the key. */
  async #create(server: ServerName): Promise<KnownKey | null> {
    const input = { name: 'Ada', role: 'read' };
    const url = this.#urls()[server];
    const made = await invoke({ url }, 'REST', 'admin.keys.create', input, operator).catch(
      () => null,
    );
    if (made?.status !== 200) return null;
    const { id, secret } = made.body;
    const key = { name: `k${this.#keys.length + 1}`, id, bearer: `Bearer ${secret}` };
    this.#keys.push(key);
    return key;
  }

  /** Null where nobody listens at that server, so that nothing was sent. */
  async #call(
    key: KnownKey,
    operation: 'use_key' | 'delete_key',
    server: ServerName,
    wire: 'REST' | 'tRPC',
    cutAfter: number | null,
  ): Promise<Call | null> {
    const isUse = operation === 'use_key';
    const request = isUse
      ? requestOf(wire, 'admin.self.get', {})
      : requestOf(wire, 'admin.keys.delete', { key_id: key.id });
    const authorization = isUse ? key.bearer : operator;
    const start = this.#now();
    const options = { cutAfter, patience: PATIENCE_MS };
    const reply = await replyTo(this.#urls()[server], { ...request, authorization }, options);
    if (reply === 'refused') return null;
    const isLost = reply === 'lost';
    const { error_code } = isLost ? {} : unwrapped(wire, reply.json);
    const call: Call = {
      ...{ id: `keys/${this.calls.length + 1}`, operation, grant: key.name, server, wire, start },
      end: isLost ? null : this.#now(),
      answer: isLost ? null : { status: reply.status, ...(error_code && { error_code }) },
    };
    this.calls.push(call);
    return call;
  }
}
