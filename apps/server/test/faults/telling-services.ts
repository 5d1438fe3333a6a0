import { setTimeout as sleep } from 'node:timers/promises';
import { CLAIM_LASTS } from '@latchkey/domain/lifetimes';
import { expect, onTestFinished, vi } from 'vitest';
import { type HeardMessage, type Receiver, startReceiver } from '../events/receiver.ts';
import { invoke, type Json, succeed } from '../http/call.ts';
import { type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { EVENTS, operator, startTestServer } from '../http/running-server.ts';
import type { ServerProcess } from '../http/served-process.ts';
import { startProcess } from './server-process.ts';

export type ServiceName = 'A' | 'B';
export const SERVICES = ['A', 'B'] as const;

// B signs with two keys, so that the signatures of a message tell which of the two has sent it.
const settings = {
  A: EVENTS,
  B: { ...EVENTS, EVENTS_KEY_PREVIOUS: EVENTS.EVENTS_KEY.toUpperCase() },
};

/** A change of a grant that was asked for. */
export interface Change {
  grant_id: string;
  type: 'grant.created' | 'grant.revoked';
  /** The process that was asked. */
  pid: number;
  isAcknowledged: boolean;
}

/** A message that was heard. */
export interface Message {
  about: string;
  /** The process that has sent it. */
  pid: number;
  isAnswered: boolean;
}

/** What happens all the time: a change is asked for and acknowledged, and a message heard and answered. */
export type Moment = 'asked' | 'acknowledged' | 'heard' | 'answered';

/** Names an event of a grant. */
export const eventOf = ({ grant_id, type }: Pick<Change, 'grant_id' | 'type'>) =>
  `${type} ${grant_id}`;

const WORKERS = 3;
const PAUSE_MS = 20;
// So long that the services always have some tries under way.
const ANSWER_MS = 50;

/**
 * Two services on one database, each in its own process, under a load of grants that are created and
 * revoked; and a receiver that is told of it.
 */
export class TellingServices {
  readonly services: Record<ServiceName, ServerProcess>;
  readonly changes: Change[] = [];
  readonly messages: Message[] = [];
  readonly #receiver: Receiver;
  readonly #linked: LinkedApplication;
  #onMoment: (moment: Moment, service: ServiceName) => void = () => undefined;
  #goesOn = true;
  #load: Promise<unknown>;

  private constructor(
    services: Record<ServiceName, ServerProcess>,
    receiver: Receiver,
    linked: LinkedApplication,
  ) {
    this.services = services;
    this.#receiver = receiver;
    this.#linked = linked;
    receiver.answer = (response, message) => {
      const sender = senderOf(message);
      const { type, data } = message.body;
      const about = eventOf({ type, grant_id: data.grant_id });
      const heard = { about, pid: services[sender].pid, isAnswered: false };
      this.messages.push(heard);
      this.#onMoment('heard', sender);
      setTimeout(() => {
        if (response.destroyed) return;
        response.writeHead(204).end(() => {
          heard.isAnswered = true;
          this.#onMoment('answered', sender);
        });
      }, ANSWER_MS);
    };
    this.#load = Promise.all(
      SERVICES.flatMap((name) => Array.from({ length: WORKERS }, () => this.#work(name))),
    );
  }

  /** Starts both, for one test. The load begins at once. */
  static async start(urls: Record<ServiceName, string>): Promise<TellingServices> {
    const receiver = await startReceiver();
    onTestFinished(receiver.close);
    const [A, B] = await Promise.all([
      startProcess(urls.A, settings.A),
      startProcess(urls.B, settings.B),
    ]);
    const linked = await linkedApplication(A);
    await succeed(A, 'admin.endpoints.create', { url: receiver.url }, operator);
    const started = new TellingServices({ A, B }, receiver, linked);
    onTestFinished(() => started.#stop());
    return started;
  }

  /** Resolves at the next such moment, to the service that it is of. */
  next(moment: Moment): Promise<ServiceName> {
    return new Promise((resolve) => {
      this.#onMoment = (now, service) => {
        if (now === moment) resolve(service);
      };
    });
  }

  /** Kills both, and has a service tell the rest of it once the claims of the killed ones are over. */
  async verify(databaseUrl: string): Promise<{ acknowledged: number; told: number }> {
    await this.#stop();
    await Promise.all(SERVICES.map((name) => this.services[name].kill()));
    const last = await startTestServer(databaseUrl, EVENTS);
    try {
      last.advance(CLAIM_LASTS);
      await vi.waitFor(
        async () => expect(await last.service.store.countEvents(1)).toMatchObject({ pending: 0 }),
        { timeout: 120_000, interval: 100 },
      );
      return this.#verifyAgainst(await this.#listGrants(last));
    } finally {
      await last.close();
    }
  }

  #verifyAgainst(grants: readonly Json[]): { acknowledged: number; told: number } {
    const happened = grants.flatMap(({ grant_id, revoked }) => [
      eventOf({ grant_id, type: 'grant.created' }),
      ...(revoked ? [eventOf({ grant_id, type: 'grant.revoked' })] : []),
    ]);
    const acknowledged = this.changes.filter(({ isAcknowledged }) => isAcknowledged).map(eventOf);
    const known = new Set(happened);
    expect(acknowledged.filter((event) => !known.has(event))).toEqual([]);
    // Every change, acknowledged or not, and nothing else.
    const told = Map.groupBy(this.#receiver.heard, ({ body: { type, data } }) =>
      eventOf({ type, grant_id: data.grant_id }),
    );
    expect([...told.keys()].sort()).toEqual(happened.sort());
    for (const messages of told.values()) {
      expect(new Set(messages.map(({ id, text }) => `${id} ${text}`)).size).toBe(1);
    }
    return { acknowledged: acknowledged.length, told: this.#receiver.heard.length };
  }

  async #stop(): Promise<void> {
    this.#goesOn = false;
    await this.#load;
  }

  async #work(name: ServiceName): Promise<void> {
    while (this.#goesOn) {
      await sleep(PAUSE_MS);
      await this.#live(name).catch(() => undefined);
    }
  }

  async #live(name: ServiceName): Promise<void> {
    const { application_id, account_id } = this.#linked;
    const about = { application_id, account_id, scope: 'a' };
    const { code, grant_id } = await this.#ask(name, 'admin.codes.issue', about, operator);
    const { bearer } = this.#linked;
    const change = async (type: Change['type'], make: () => Promise<unknown>) => {
      const { pid } = this.services[name];
      const change: Change = { grant_id, type, pid, isAcknowledged: false };
      this.changes.push(change);
      const made = make();
      this.#onMoment('asked', name);
      await made;
      change.isAcknowledged = true;
      this.#onMoment('acknowledged', name);
    };
    await change('grant.created', () => this.#ask(name, 'grants.convert', { code }, bearer));
    if (this.changes.length % 2 === 0) return;
    await change('grant.revoked', () => this.#ask(name, 'grants.revoke', { grant_id }, bearer));
  }

  async #ask(
    name: ServiceName,
    operation: Parameters<typeof invoke>[2],
    input: Record<string, unknown>,
    authorization: string,
  ): Promise<Json> {
    const { url } = this.services[name];
    const { status, body } = await invoke({ url }, 'REST', operation, input, authorization);
    if (status !== 200) throw new Error(body.error_code);
    return body;
  }

  async #listGrants(server: { url: string }): Promise<Json[]> {
    const { application_id } = this.#linked;
    const found: Json[] = [];
    let cursor: string | null = null;
    do {
      const page = { application_id, limit: 100, ...(cursor !== null && { cursor }) };
      const list: Json = await succeed(server, 'admin.grants.list', page, operator);
      found.push(...list.data);
      cursor = list.next_cursor;
    } while (cursor !== null);
    return found;
  }
}

const senderOf = ({ headers }: HeardMessage): ServiceName =>
  String(headers['webhook-signature']).includes(' ') ? 'B' : 'A';
