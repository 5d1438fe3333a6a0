import { isLive } from '@latchkey/domain/credentials/credentials';
import type { Adapter } from '../adapter.ts';
import { keys as kind } from '../kinds.ts';
import type { KeyRecord } from '../records.ts';
import { outdatedSecrets, type Store } from '../store.ts';
import { fromStoredSecret, type StoredSecret, toStoredSecret } from '../stored-secrets.ts';
import { inOne } from './in-one.ts';

type Keys = Pick<Store, 'createKey' | 'findKey' | 'listKeys' | 'deleteKey' | 'noteKeyUse'>;

type Stored = StoredSecret<KeyRecord>;

const ofId = (key_id: string) => (key: Stored) => key.id === key_id;
const newestFirst = (one: Stored, other: Stored) => (one.id < other.id ? 1 : -1);

export function keys(db: Adapter): Keys {
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
  const note = change((list, { key_id, at }: { key_id: string; at: number }) => {
    const isNoted = (one: Stored) => one.id !== key_id || (one.last_used_at ?? 0) >= at;
    if (list.every(isNoted)) return { result: undefined };
    return {
      result: undefined,
      put: list.map((one) => (isNoted(one) ? one : { ...one, last_used_at: at })),
      isMade: (later) => later.every(isNoted),
    };
  });

  return {
    createKey: (key, limit) => create({ key, ...limit }),

    async findKey(key_id, options) {
      const found = (await read(options)).find(ofId(key_id));
      return found ? fromStoredSecret(found) : null;
    },

    listKeys: async () => (await read()).toSorted(newestFirst).map((one) => fromStoredSecret(one)),

    deleteKey: (key_id) => remove({ key_id }),
    noteKeyUse: (key_id, at) => note({ key_id, at }),
  };
}

interface NewKey {
  key: KeyRecord;
  most: number;
  now: number;
}
