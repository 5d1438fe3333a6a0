import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventTypes } from '@latchkey/schema';
import { type HeardMessage, type Receiver, startReceiver } from '../events/receiver.ts';
import { succeed } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import type { Call } from './history.ts';
import type { Random } from './random.ts';

// Of the messages that are heard for the first time.
const REFUSED = 0.2;
const PAUSE_MS = 50;

/** An endpoint of the host, which is told of every grant, and of applications. It refuses some messages, which are sent again. */
export class Listener {
  readonly #receiver: Receiver;
  readonly #now: () => number;
  readonly #heard: { message: HeardMessage; at: number; isAccepted: boolean }[] = [];
  readonly #since = new Date().toISOString();
  #endpoint_id = '';

  private constructor(receiver: Receiver, random: Random, now: () => number) {
    this.#receiver = receiver;
    this.#now = now;
    const known = new Set<string>();
    receiver.answer = (response, message) => {
      const isAccepted = known.has(message.id) || !random.chance(REFUSED);
      known.add(message.id);
      this.#heard.push({ message, at: now(), isAccepted });
      response.writeHead(isAccepted ? 204 : 500).end();
    };
  }

  static async start(
    server: { url: string },
    random: Random,
    now: () => number,
  ): Promise<Listener> {
    const receiver = await startReceiver();
    const listener = new Listener(receiver, random, now);
    const types = eventTypes.filter((type) => !type.startsWith('account.'));
    const endpoint = { url: receiver.url, types };
    const { id } = await succeed(server, 'admin.endpoints.create', endpoint, operator);
    listener.#endpoint_id = id;
    return listener;
  }

  /**
   * Waits until everything was told. Disabling drops what is pending and a replay makes it due at once,
   * rather than when the claims of killed servers end.
   *
   * @param names - of what it is told of, by their ids
   * @returns what was heard of each, and that nothing more comes
   */
  async hearAll(server: { url: string }, names: ReadonlyMap<string, string>): Promise<Call[]> {
    const endpoint_id = this.#endpoint_id;
    for (const disabled of [true, false]) {
      await succeed(server, 'admin.endpoints.update', { endpoint_id, disabled }, operator);
    }
    const replay = { endpoint_id, since: this.#since };
    await succeed(server, 'admin.endpoints.replay', replay, operator);
    const pending = { endpoint_id, status: 'pending', limit: 1 };
    const isQuiet = async () =>
      (await succeed(server, 'admin.deliveries.list', pending, operator)).data.length === 0;
    while (!(await isQuiet())) await sleep(PAUSE_MS);

    const heard = this.#heard.map(
      ({ message: { id, text, body }, at, isAccepted }, index): Call => {
        const about = body.data.grant_id ?? body.data.id;
        const grant = names.get(about) ?? about;
        const digest = createHash('sha256').update(text).digest('base64url');
        const told = { type: body.type, message: id, body: digest, accepted: isAccepted };
        return {
          ...{ id: `listener/${index + 1}`, operation: 'hear', grant, server: null, wire: 'REST' },
          ...{ start: at, end: at, answer: { status: 200, ...told } },
        };
      },
    );
    const end = this.#now();
    const quiet = [...names.values()].map(
      (name): Call => ({
        ...{ id: `quiet/${name}`, operation: 'quiet', grant: name, server: null, wire: 'REST' },
        ...{ start: end, end, answer: { status: 200 } },
      }),
    );
    return [...heard, ...quiet];
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }
}
