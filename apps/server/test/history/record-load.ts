import { randomUUID } from 'node:crypto';
import type { OperationName } from '@latchkey/schema';
import { type Json, requestOf, unwrapped } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import type { Answer, ServerName } from './history.ts';
import { type Answered, type Life, Load, type Made } from './load.ts';

const CHANGES = 6;

type Operation = 'put' | 'remove' | 'read' | 'disable' | 'enable';
type Asked = [OperationName, Record<string, unknown>];

/** How records of a kind are made and asked for. What a record shows is the call that has put it. */
interface Kind {
  /** Without it, an id is chosen, and each put makes a record that is not there. */
  create?: (ask: (...asked: Asked) => Promise<Json | null>) => Promise<Json | null>;
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
      const told = await ask('admin.applications.create', { name: 'told' });
      const endpoint = { application_id: told?.id, url: `${NOWHERE}new` };
      return told && ask('admin.endpoints.create', endpoint);
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

/** Puts, switches and removes records, one of each kind at a time, and reads them on both servers meanwhile. */
export class RecordLoad extends Load<KnownRecord, Operation> {
  protected readonly name = 'records';
  protected readonly atOnce = Object.keys(kinds).length;
  protected readonly reading = 'read';

  protected async create(
    name: string,
    server: ServerName,
    index: number,
  ): Promise<KnownRecord | null> {
    const kind = Object.values(kinds)[index] as Kind;
    const ask = (...asked: Asked) => this.bodyOf(server, ...asked);
    const { id } = (kind.create ? await kind.create(ask) : { id: randomUUID() }) ?? {};
    return id === undefined ? null : { name, id, kind };
  }

  protected async change(
    { kind }: KnownRecord,
    { ask, untilDone, pause }: Life<Operation>,
  ): Promise<void> {
    for (let made = 0; made < CHANGES && !this.isOver; made += 1) {
      await ask('put');
      if (kind.isSwitched) {
        await untilDone('disable');
        await untilDone('enable');
      }
      await pause();
    }
    // At once, since an event that is not told yet has to outlive it.
    if (kind.isSwitched) await untilDone('disable');
    await untilDone('remove');
  }

  protected requestFor({ kind, id: of }: KnownRecord, { id, operation, wire }: Made<Operation>) {
    const [asked, input] = isSwitch(operation) ? switched(operation, of) : kind[operation](of, id);
    return { ...requestOf(wire, asked, input), authorization: operator };
  }

  protected override async answerOf(
    known: KnownRecord,
    made: Made<Operation>,
    reply: Answered,
  ): Promise<Answer | null> {
    const answer = await super.answerOf(known, made, reply);
    if (made.operation !== 'read' || answer?.error_code) return answer;
    return answer && { ...answer, shown: known.kind.shown(unwrapped(made.wire, reply.json)) };
  }
}

const isSwitch = (operation: Operation): operation is 'disable' | 'enable' =>
  operation === 'disable' || operation === 'enable';

const switched = (operation: 'disable' | 'enable', application_id: string): Asked => [
  `admin.applications.${operation}`,
  { application_id },
];
