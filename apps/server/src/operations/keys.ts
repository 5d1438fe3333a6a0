import { createKey, deleteKey, listKeys } from '@latchkey/rules/keys/keys';
import {
  formatTimestamp,
  type Key,
  type OperationContract,
  operationNames,
  operations,
} from '@latchkey/schema';
import type { KeyRecord } from '@latchkey/store/records';
import { toCompleteList } from './linking-wire.ts';
import type { OperationRows } from './row.ts';
import { timestampOrNull } from './wire.ts';

/** The keys of operators, and what the one that calls may do. */
export const keyRows: OperationRows<'admin.keys' | 'admin.self'> = {
  'admin.keys.create': {
    audited: 'always',
    ids: { key_id: 'output.id' },
    handle: async (service, { expires_at, ...members }) => {
      const expiry = expires_at === null ? null : Date.parse(expires_at);
      const { key, credential } = await createKey(service, { ...members, expires_at: expiry });
      return { ...toKey(key), secret: credential };
    },
  },
  'admin.keys.list': {
    audited: 'refusals',
    ids: {},
    handle: async (service) => toCompleteList((await listKeys(service)).map(toKey)),
  },
  'admin.keys.delete': {
    audited: 'always',
    ids: { key_id: 'input.key_id' },
    handle: async (service, { key_id }) => toKey(await deleteKey(service, key_id)),
  },
  'admin.self.get': {
    audited: 'refusals',
    ids: {},
    handle: async (_service, _input, { key }) => ({
      object: 'operator',
      key_id: key?.id ?? null,
      name: key?.name ?? null,
      role: key?.role ?? 'root',
      may: operationNames.filter((name) => {
        const { caller, roles }: OperationContract = operations[name];
        return caller === 'operator' && (key === null || roles?.includes(key.role));
      }),
    }),
  },
};

function toKey({ id, name, role, hint, created_at, expires_at, last_used_at }: KeyRecord): Key {
  return {
    ...{ object: 'key', id, name, role, hint },
    created_at: formatTimestamp(created_at),
    expires_at: timestampOrNull(expires_at),
    last_used_at: timestampOrNull(last_used_at),
  };
}
