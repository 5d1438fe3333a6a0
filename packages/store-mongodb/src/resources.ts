import { isDeepStrictEqual } from 'node:util';
import { resourceAfter } from '@latchkey/store/generations';
import type { ResourceRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import type { Database } from './database.ts';
import { resourceFormat } from './documents/resources.ts';
import { listDocument } from './list-document.ts';

type Resources = Pick<
  Store,
  'createResource' | 'listResources' | 'updateResource' | 'deleteResource'
>;

const byAddress = (one: ResourceRecord, other: ResourceRecord) =>
  one.resource < other.resource ? -1 : 1;

export function resources(database: Database): Resources {
  const { read, change } = listDocument(database, resourceFormat);

  return {
    createResource: (resource, { most }) =>
      change((list) => {
        if (list.some((other) => other.resource === resource.resource)) return 'resource_exists';
        if (list.length >= most) return 'resource_limit_reached';
        return {
          list: [...list, resource],
          result: 'created',
          isMade: (later) => later.some(({ id }) => id === resource.id),
        };
      }),

    listResources: async (options) => (await read(options)).sort(byAddress),

    updateResource: (resource_id, changes) =>
      change((list) => {
        const found = list.find(({ id }) => id === resource_id);
        if (found === undefined) return 'resource_not_found';
        const changed = resourceAfter(found, changes);
        if (changed === null) return 'default_scopes_outside';
        return {
          list: list.map((one) => (one === found ? changed : one)),
          result: changed,
          isMade: (later) => later.some((one) => isDeepStrictEqual(one, changed)),
        };
      }),

    async deleteResource(resource_id) {
      const deleted = await change((list) => {
        const found = list.find(({ id }) => id === resource_id);
        if (found === undefined) return 'none';
        return {
          list: list.filter((one) => one !== found),
          result: found,
          isMade: (later) => later.every(({ id }) => id !== resource_id),
        };
      });
      return deleted === 'none' ? null : deleted;
    },
  };
}
