import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { OperationName } from '@latchkey/schema';
import { invoke, type Json, requestOf, unwrapped } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import type { Call, ServerName } from './history.ts';
import { isDone } from './outcomes.ts';
import type { Random } from './random.ts';
import type { ServerUrls } from './recorder.ts';
import { replyTo } from './reply.ts';

// At most, of each pause.
const PAUSE_MS = 20;
const CHANGES = 6;
const READS_AFTER_THE_END = 3;
const CUT = 0.1;
const PATIENCE_MS = 4_000;

type Operation = 'put' | 'remove' | 'read' | 'disable' | 'enable';
type Asked = [OperationName, Record<string, unknown>];

/** How records of a kind are made and asked for. What a record shows is the call that has put it. */
interface Kind {
  /** Without it, an id is chosen, and each put makes a record that is not there. */
  create?: (ask: (...asked: Asked) => Promise<Json>) => Promise<Json>;
  put(id: string, call: string): Asked;
  remove(id: string): Asked;
  read(id: string): Asked;
  shown(record: Json): string;
  /** Whether it is switched off and on, and off before it is removed. */
  isSwitched?: true;
}

const NOWHERE = 'https://localhost:1/';

const kinds: Record<'account' | 'application' | 'endpoint', Kind> = {
  account: {
    put: (account_id, username) => ['admin.accounts.put', { account_id, username }],
    remove: (account_id) => ['admin.accounts.erase', { account_id }],
    read: (account_id) => ['admin.accounts.get', { account_id }],
    shown: ({ username }) => username,
  },
  application: {
    create: (ask) => ask('admin.applications.create', { name: 'new' }),
    put: (application_id, name) => ['admin.applications.update', { application_id, name }],
    remove: (application_id) => ['admin.applications.delete', { application_id }],
    read: (application_id) => ['admin.applications.get', { application_id }],
    shown: ({ name }) => name,
    isSwitched: true,
  },
  // Of an application that nobody is linked with: it is told nothing.
  endpoint: {
    async create(ask) {
      const { id: application_id } = await ask('admin.applications.create', { name: 'told' });
      return ask('admin.endpoints.create', { application_id, url: `${NOWHERE}new` });
    },
    put: (endpoint_id, call) => ['admin.endpoints.update', { endpoint_id, url: NOWHERE + call }],
    remove: (endpoint_id) => ['admin.endpoints.delete', { endpoint_id }],
    read: (endpoint_id) => ['admin.endpoints.get', { endpoint_id }],
    shown: ({ url }) => url.slice(NOWHERE.length),
  },
};

interface KnownRecord {
  name: string;
  id: string;
  kind: Kind;
}

/** Puts, switches and removes records, one after the other, and reads them on both servers meanwhile. */
export class RecordLoad {
  readonly calls: Call[] = [];
  readonly records: KnownRecord[] = [];
  readonly #urls: () => ServerUrls;
  readonly #now: () => number;
  #lives: Promise<unknown> = Promise.resolve();
  #made = 0;
  #isOver = false;

  constructor(urls: () => ServerUrls, now: () => number) {
    this.#urls = urls;
    this.#now = now;
  }

  /** One record of each kind lives at a time. */
  begin(random: Random): void {
    const liveOn = async (kind: Kind) => {
      while (!this.#isOver) await this.#live(random, kind);
    };
    this.#lives = Promise.all(Object.values(kinds).map(liveOn));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#lives;
  }

  /** Reads each record once more, when there are no faults any more. */
  async readAll(): Promise<void> {
    for (const record of this.records) {
      const read = await this.#call(record, 'read', 'A', 'REST', null);
      if (read?.answer == null) throw new Error(`The service did not answer (${record.name}).`);
    }
  }

  async #live(random: Random, kind: Kind): Promise<void> {
    const id = await this.#create(kind, random.pick(['A', 'B']));
    if (id === null) return void (await sleep(PAUSE_MS));
    const record = { name: `r${this.records.length + 1}`, id, kind };
    this.records.push(record);
    const ask = (operation: Operation) => {
      const cutAfter = random.chance(CUT) ? random.integer(PAUSE_MS) : null;
      const wire = random.pick(['REST', 'tRPC'] as const);
      return this.#call(record, operation, random.pick(['A', 'B']), wire, cutAfter);
    };
    const untilDone = async (operation: Operation) => {
      for (;;) {
        const call = await ask(operation);
        if (this.#isOver || (call && isDone(call)) || (call && isGone(call))) return;
        await sleep(PAUSE_MS);
      }
    };
    let isRemoved = false;
    const read = async () => {
      for (let after = 0; after < READS_AFTER_THE_END && !this.#isOver; after += +isRemoved) {
        await ask('read');
        await sleep(random.integer(PAUSE_MS));
      }
    };
    const change = async () => {
      for (let made = 0; made < CHANGES && !this.#isOver; made += 1) {
        await ask('put');
        if (kind.isSwitched) {
          await untilDone('disable');
          await untilDone('enable');
        }
        await sleep(random.integer(PAUSE_MS));
      }
      // At once, since an event that is not told yet has to outlive it.
      if (kind.isSwitched) await untilDone('disable');
      await untilDone('remove');
      isRemoved = true;
    };
    await Promise.all([read(), read(), change()]);
  }

  /** Null where the answer is lost, or none is given. */
  async #create(kind: Kind, server: ServerName): Promise<string | null> {
    if (kind.create === undefined) return randomUUID();
    const url = this.#urls()[server];
    try {
      const made = await kind.create(async (name, input) => {
        const { status, body } = await invoke({ url }, 'REST', name, input, operator);
        if (status !== 200) throw new Error(body.error_code);
        return body;
      });
      return made.id;
    } catch {
      return null;
    }
  }

  /** Null where nobody listens at that server, so that nothing was sent. */
  async #call(
    { name, id: of, kind }: KnownRecord,
    operation: Operation,
    server: ServerName,
    wire: 'REST' | 'tRPC',
    cutAfter: number | null,
  ): Promise<Call | null> {
    const id = `records/${++this.#made}`;
    const [asked, input] = isSwitch(operation) ? switched(operation, of) : kind[operation](of, id);
    const start = this.#now();
    const reply = await replyTo(
      this.#urls()[server],
      { ...requestOf(wire, asked, input), authorization: operator },
      { cutAfter, patience: PATIENCE_MS },
    );
    if (reply === 'refused') return null;
    const made = { id, operation, grant: name, server, wire, start };
    const call: Call =
      reply === 'lost'
        ? { ...made, end: null, answer: null }
        : {
            ...made,
            end: this.#now(),
            answer: answerOf(reply.status, unwrapped(wire, reply.json)),
          };
    this.calls.push(call);
    return call;

    function answerOf(status: number, body: Json): Call['answer'] {
      const { error_code } = body;
      if (error_code) return { status, error_code };
      return operation === 'read' ? { status, shown: kind.shown(body) } : { status };
    }
  }
}

const isSwitch = (operation: Operation): operation is 'disable' | 'enable' =>
  operation === 'disable' || operation === 'enable';

const switched = (operation: 'disable' | 'enable', application_id: string): Asked => [
  `admin.applications.${operation}`,
  { application_id },
];

const isGone = ({ answer }: Call) => answer?.error_code?.endsWith('_not_found') ?? false;
