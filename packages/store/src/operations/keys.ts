import type { Milliseconds } from '@latchkey/domain/clock';
import { isLive } from '@latchkey/domain/credentials/credentials';
import type { Adapter } from '../adapter.ts';
import { outdatedSecrets, type ReadOptions } from '../inputs.ts';
import { keys as kind } from '../kinds.ts';
import type { KeyRecord } from '../records.ts';
import { fromStoredSecret, type StoredSecret, toStoredSecret } from '../stored-secrets.ts';
import { inOne, type ListDecision } from './in-one.ts';

type Stored = StoredSecret<KeyRecord>;

const ofId = (key_id: string) => (key: Stored) => key.id === key_id;
const newestFirst = (one: Stored, other: Stored) => (one.id < other.id ? 1 : -1);

export function keys(db: Adapter) {
  const { read, change } = inOne(db, kind);
  const create = change((list, { key, most, now }: NewKey) => {
    const live = list.filter((one) => isLive(one, now));
    if (live.length >= most) return { result: 'key_limit_reached' as const };
    const outdated = outdatedSecrets(list, now);
    const kept = list.filter(({ id }) => !outdated.includes(id));
    return {
      result: 'created' as const,
      put: [...kept, toStoredSecret(key)],
      isMade: (later) => later.some(ofId(key.id)),
    };
  });
  const remove = change(
    (list, { key_id }: { key_id: string }) => {
      const found = list.find(ofId(key_id));
      if (found === undefined) return { result: null };
      return {
        result: fromStoredSecret<KeyRecord>(found),
        put: list.filter((one) => one !== found),
        isMade: (later) => !later.some(ofId(key_id)),
      };
    },
    { ends: true },
  );
  const note = change((list, { key_id, at }: Use): ListDecision<Stored, void> => {
    const isNoted = (one: Stored) => one.id !== key_id || (one.last_used_at ?? 0) >= at;
    if (list.every(isNoted)) return { result: undefined };
    return {
      result: undefined,
      put: list.map((one) => (isNoted(one) ? one : { ...one, last_used_at: at })),
      isMade: (later) => later.every(isNoted),
    };
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
      const found = (await read(options)).find(ofId(key_id));
      return found ? fromStoredSecret(found) : null;
    },

    /** All keys, newest first. */
    listKeys: async () => (await read()).toSorted(newestFirst).map((one) => fromStoredSecret(one)),

    /** Returns the deleted key; null if there is none. Once this has returned, no process finds it. */
    deleteKey: (key_id: string) => remove({ key_id }),

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
