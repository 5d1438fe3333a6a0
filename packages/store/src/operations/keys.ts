import type { Milliseconds } from '@latchkey/domain/clock';
import type { Adapter } from '../adapter.ts';
import type { ReadOptions } from '../inputs.ts';
import { keys as kind } from '../kinds.ts';
import type { KeyRecord } from '../records.ts';
import { withSecret, withUse } from '../secrets.ts';
import { inOne, isOf, type ListDecision } from './in-one.ts';

const newestFirst = (one: KeyRecord, other: KeyRecord) => (one.id < other.id ? 1 : -1);

export function keys(db: Adapter) {
  const { read, change, remove } = inOne(db, kind);
  const create = change((list, { key, ...limit }: NewKey) => {
    const put = withSecret(list, key, limit);
    if (put === null) return { result: 'key_limit_reached' as const };
    return {
      result: 'created' as const,
      put,
      isMade: (later) => later.some(isOf(key.id)),
    };
  });
  const note = change((list, { key_id, at }: Use): ListDecision<KeyRecord, void> => {
    const put = withUse(list, key_id, at);
    const isMade = (later: readonly KeyRecord[]) => withUse(later, key_id, at) === null;
    return { result: undefined, ...(put && { put, isMade }) };
  });

  return {
    /**
     * Creates a key unless there are `most` live ones: those without an expiry or with one after `now`.
     * Concurrent calls together never exceed the limit. Of the expired keys, keeps the
     * `EXPIRED_SECRETS_KEPT` that expired last.
     */
    createKey: (key: KeyRecord, limit: { most: number; now: Milliseconds }) =>
      create({ key, ...limit }),

    async findKey(key_id: string, options?: ReadOptions): Promise<KeyRecord | null> {
      return (await read(options)).find(isOf(key_id)) ?? null;
    },

    /** All keys, newest first. */
    listKeys: async () => (await read()).toSorted(newestFirst),

    /** Returns the deleted key; null if there is none. Once this has returned, no process finds it. */
    deleteKey: remove,

    /** Records when a key was used, as `noteSecretUse` does. */
    noteKeyUse: (key_id: string, at: Milliseconds) => note({ key_id, at }),
  };
}

interface Use {
  key_id: string;
  at: Milliseconds;
}

interface NewKey {
  key: KeyRecord;
  most: number;
  now: number;
}
