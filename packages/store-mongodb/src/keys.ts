import { isLive } from '@latchkey/domain/credentials/credentials';
import { outdatedSecrets, type Store } from '@latchkey/store/store';
import type { Database } from './database.ts';
import { keyFormat } from './documents/keys.ts';
import { listDocument } from './list-document.ts';

type Keys = Pick<Store, 'createKey' | 'findKey' | 'listKeys' | 'deleteKey' | 'noteKeyUse'>;

export function keys(database: Database): Keys {
  const { read, change } = listDocument(database, keyFormat);

  return {
    createKey: (key, { most, now }) =>
      change((list) => {
        if (list.filter((other) => isLive(other, now)).length >= most) return 'key_limit_reached';
        const outdated = outdatedSecrets(list, now);
        return {
          list: [...list.filter(({ id }) => !outdated.includes(id)), key],
          result: 'created',
          isMade: (later) => later.some(({ id }) => id === key.id),
        };
      }),

    findKey: async (key_id, options) =>
      (await read(options)).find(({ id }) => id === key_id) ?? null,

    listKeys: async () => (await read()).sort((one, other) => (one.id < other.id ? 1 : -1)),

    async deleteKey(key_id) {
      const deleted = await change((list) => {
        const found = list.find(({ id }) => id === key_id);
        if (found === undefined) return 'none';
        return {
          list: list.filter((one) => one !== found),
          result: found,
          isMade: (later) => later.every(({ id }) => id !== key_id),
        };
      });
      return deleted === 'none' ? null : deleted;
    },

    async noteKeyUse(key_id, at) {
      await change((list) => {
        const found = list.find(({ id }) => id === key_id);
        if (found === undefined || (found.last_used_at ?? 0) >= at) return 'none';
        return {
          list: list.map((one) => (one === found ? { ...found, last_used_at: at } : one)),
          result: 'noted',
          isMade: (later) =>
            later.every(({ id, last_used_at }) => id !== key_id || (last_used_at ?? 0) >= at),
        };
      });
    },
  };
}
