import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLAIM_LASTS } from '@latchkey/domain/lifetimes';
import type { EventType } from '@latchkey/schema';
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

/** A change that was asked for. */
export interface Change {
  /** The id of the grant, the account or the application. */
  of: string;
  type: Exclude<EventType, 'ping'>;
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

/** Names an event. Each happens once at most. */
export const eventOf = ({ of, type }: Pick<Change, 'of' | 'type'>) => `${type} ${of}`;

const subjectOf = ({ type, data }: Json) => ({ type, of: data.grant_id ?? data.id });

type Asked = [
  operation: Parameters<typeof invoke>[2],
  input: Record<string, unknown>,
  authorization: string,
];

const switches = [
  ['application.disabled', 'admin.applications.disable'],
  ['application.enabled', 'admin.applications.enable'],
] as const;
const RENAMED = 'after';

const WORKERS = 3;
const PAUSE_MS = 20;
// So long that the services always have some tries under way.
const ANSWER_MS = 50;

/**
 * Two services on one database, each in its own process, under a load of grants that are created and revoked,
 * applications that are disabled and enabled, and accounts that get another name; and a receiver that is told of it.
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
      const about = eventOf(subjectOf(message.body));
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
      return this.#verifyAgainst([
        ...(await this.#eventsOfGrants(last)),
        ...(await this.#eventsOfRecords(last)),
      ]);
    } finally {
      await last.close();
    }
  }

  #verifyAgainst(happened: string[]): { acknowledged: number; told: number } {
    const acknowledged = this.changes.filter(({ isAcknowledged }) => isAcknowledged).map(eventOf);
    const known = new Set(happened);
    expect(acknowledged.filter((event) => !known.has(event))).toEqual([]);
    // Every change, acknowledged or not, and nothing else.
    const told = Map.groupBy(this.#receiver.heard, ({ body }) => eventOf(subjectOf(body)));
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
    // Mostly of grants: the steps of a kill are looked for among these.
    const lives = [this.#grant, this.#grant, this.#switch, this.#grant, this.#grant, this.#rename];
    for (let lived = 0; this.#goesOn; lived++) {
      await sleep(PAUSE_MS);
      await lives[lived % lives.length]?.call(this, name).catch(() => undefined);
    }
  }

  async #grant(name: ServiceName): Promise<void> {
    const { application_id, account_id, bearer } = this.#linked;
    const about = { application_id, account_id, scope: 'a' };
    const { code, grant_id: of } = await this.#ask(name, 'admin.codes.issue', about, operator);
    await this.#change(name, { of, type: 'grant.created' }, 'grants.convert', { code }, bearer);
    if (this.changes.length % 2 === 0) return;
    const input = { grant_id: of };
    await this.#change(name, { of, type: 'grant.revoked' }, 'grants.revoke', input, bearer);
  }

  async #switch(name: ServiceName): Promise<void> {
    const application = { name: 'Switched', redirect_uris: [] };
    const created = await this.#ask(name, 'admin.applications.create', application, operator);
    const { id: of } = created;
    for (const [type, operation] of switches) {
      await this.#change(name, { of, type }, operation, { application_id: of }, operator);
    }
  }

  async #rename(name: ServiceName): Promise<void> {
    const of = randomUUID();
    const account = { account_id: of, username: 'before' };
    await this.#ask(name, 'admin.accounts.put', account, operator);
    const renamed = { ...account, username: RENAMED };
    await this.#change(
      name,
      { of, type: 'account.updated' },
      'admin.accounts.put',
      renamed,
      operator,
    );
  }

  async #change(
    name: ServiceName,
    event: Pick<Change, 'of' | 'type'>,
    ...[operation, input, authorization]: Asked
  ): Promise<void> {
    const change: Change = { ...event, pid: this.services[name].pid, isAcknowledged: false };
    this.changes.push(change);
    const made = this.#ask(name, operation, input, authorization);
    this.#onMoment('asked', name);
    await made;
    change.isAcknowledged = true;
    this.#onMoment('acknowledged', name);
  }

  async #ask(name: ServiceName, ...[operation, input, authorization]: Asked): Promise<Json> {
    const { url } = this.services[name];
    const { status, body } = await invoke({ url }, 'REST', operation, input, authorization);
    if (status !== 200) throw new Error(body.error_code);
    return body;
  }

  async #eventsOfGrants(server: { url: string }): Promise<string[]> {
    const { application_id } = this.#linked;
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const page = { application_id, limit: 100, ...(cursor !== null && { cursor }) };
      const list: Json = await succeed(server, 'admin.grants.list', page, operator);
      for (const { grant_id: of, revoked } of list.data) {
        found.push(eventOf({ of, type: 'grant.created' }));
        if (revoked) found.push(eventOf({ of, type: 'grant.revoked' }));
      }
      cursor = list.next_cursor;
    } while (cursor !== null);
    return found;
  }

  /** What was asked for and made, as each record shows. An application is enabled only after it was disabled. */
  async #eventsOfRecords(server: { url: string }): Promise<string[]> {
    const read = (operation: Asked[0], input: Asked[1]): Promise<Json> =>
      succeed(server, operation, input, operator);
    const isMade = async ({ of, type, isAcknowledged }: Change): Promise<boolean> => {
      switch (type) {
        case 'account.updated':
          return (await read('admin.accounts.get', { account_id: of })).username === RENAMED;
        case 'application.disabled':
          return (
            isAcknowledged ||
            (await read('admin.applications.get', { application_id: of })).disabled
          );
        case 'application.enabled':
          return !(await read('admin.applications.get', { application_id: of })).disabled;
        default:
          return false;
      }
    };
    const made: string[] = [];
    // One after the other: on a slow machine there are more than the service takes connections.
    for (const change of this.changes) if (await isMade(change)) made.push(eventOf(change));
    return made;
  }
}

const senderOf = ({ headers }: HeardMessage): ServiceName =>
  String(headers['webhook-signature']).includes(' ') ? 'B' : 'A';
