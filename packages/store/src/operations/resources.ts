import { isDeepStrictEqual } from 'node:util';
import type { Adapter } from '../adapter.ts';
import { resourceAfter } from '../generations.ts';
import type { ReadOptions } from '../inputs.ts';
import { resources as kind } from '../kinds.ts';
import type { ResourceChanges, ResourceRecord } from '../records.ts';
import { inOne, isOf, type ListDecision } from './in-one.ts';

const byAddress = (one: ResourceRecord, other: ResourceRecord) =>
  one.resource < other.resource ? -1 : 1;

export function resources(db: Adapter) {
  const { read, change, remove } = inOne(db, kind);
  const create = change((list, { resource, most }: { resource: ResourceRecord; most: number }) => {
    const isThere = list.some((other) => other.resource === resource.resource);
    if (isThere) return { result: 'resource_exists' as const };
    if (list.length >= most) return { result: 'resource_limit_reached' as const };
    return {
      result: 'created' as const,
      put: [...list, resource],
      isMade: (later) => later.some(isOf(resource.id)),
    };
  });
  const update = change(
    (list, { resource_id, changes }: Update): ListDecision<ResourceRecord, Updated> => {
      const found = list.find(isOf(resource_id));
      if (found === undefined) return { result: 'resource_not_found' };
      const changed = resourceAfter(found, changes);
      if (changed === null) return { result: 'default_scopes_outside' };
      return {
        result: changed,
        put: list.map((one) => (one === found ? changed : one)),
        isMade: (later) => later.some((one) => isDeepStrictEqual(one, changed)),
      };
    },
    { ends: true },
  );

  return {
    /**
     * Creates a resource, unless there is one with its address, or there are `most`: not even concurrent
     * calls exceed that.
     */
    createResource: (resource: ResourceRecord, { most }: { most: number }) =>
      create({ resource, most }),

    /** All resources, by their address. */
    listResources: async (options?: ReadOptions) => (await read(options)).toSorted(byAddress),

    /** Changes a resource as `resourceAfter` says. Refuses what that refuses. Idempotent. */
    updateResource: (resource_id: string, changes: ResourceChanges) =>
      update({ resource_id, changes }),

    /** Returns the deleted resource; null if there is none. */
    deleteResource: remove,
  };
}

interface Update {
  resource_id: string;
  changes: ResourceChanges;
}

type Updated = ResourceRecord | 'resource_not_found' | 'default_scopes_outside';
