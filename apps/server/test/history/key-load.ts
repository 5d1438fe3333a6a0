import { setTimeout as sleep } from 'node:timers/promises';
import { requestOf } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import type { ServerName } from './history.ts';
import { type Life, Load, type Made } from './load.ts';

const LIFE_MS = 200;

interface KnownKey {
  name: string;
  id: string;
  bearer: string;
}

type Operation = 'use_key' | 'delete_key';

/** Makes keys of the operator, uses them on both servers, and deletes them meanwhile. */
export class KeyLoad extends Load<KnownKey, Operation> {
  protected readonly name = 'keys';
  protected readonly atOnce = 2;
  protected readonly reading = 'use_key';

  protected async create(name: string, server: ServerName): Promise<KnownKey | null> {
    const made = await this.bodyOf(server, 'admin.keys.create', { name: 'Ada', role: 'read' });
    if (made === null) return null;
    const { id, secret } = made;
    return { name, id, bearer: `Bearer ${secret}` };
  }

  protected async change(_key: KnownKey, { random, untilDone }: Life<Operation>): Promise<void> {
    await sleep(random.integer(LIFE_MS));
    await untilDone('delete_key');
  }

  protected requestFor({ id, bearer }: KnownKey, { operation, wire }: Made<Operation>) {
    return operation === 'use_key'
      ? { ...requestOf(wire, 'admin.self.get', {}), authorization: bearer }
      : { ...requestOf(wire, 'admin.keys.delete', { key_id: id }), authorization: operator };
  }
}
