import { isDeepStrictEqual } from 'node:util';
import type { Adapter } from '../adapter.ts';
import { resourceAfter } from '../generations.ts';
import { resources as kind } from '../kinds.ts';
import type { ResourceChanges, ResourceRecord } from '../records.ts';
import type { Store } from '../store.ts';
import { inOne, type ListDecision } from './in-one.ts';

type Resources = Pick<
  Store,
  'createResource' | 'listResources' | 'updateResource' | 'deleteResource'
>;

const ofId = (resource_id: string) => (one: ResourceRecord) => one.id === resource_id;
const byAddress = (one: ResourceRecord, other: ResourceRecord) =>
  one.resource < other.resource ? -1 : 1;

export function resources(db: Adapter): Resources {
  const { read, change } = inOne(db, kind);
  const create = change((list, { resource, most }: { resource: ResourceRecord; most: number }) => {
    const isThere = list.some((other) => other.resource === resource.resource);
    if (isThere) return { result: 'resource_exists' as const };
    if (list.length >= most) return { result: 'resource_limit_reached' as const };
    return {
      result: 'created' as const,
      put: [...list, resource],
      isMade: (later) => later.some(ofId(resource.id)),
    };
  });
  const update = change(
    (list, { resource_id, changes }: Update): ListDecision<ResourceRecord, Updated> => {
      const found = list.find(ofId(resource_id));
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
  const remove = change(
    (list, { resource_id }: { resource_id: string }) => {
      const found = list.find(ofId(resource_id));
      if (found === undefined) return { result: null };
      return {
        result: found,
        put: list.filter((one) => one !== found),
        isMade: (later) => !later.some(ofId(resource_id)),
      };
    },
    { ends: true },
  );

  return {
    createResource: (resource, { most }) => create({ resource, most }),
    listResources: async (options) => (await read(options)).toSorted(byAddress),
    updateResource: (resource_id, changes) => update({ resource_id, changes }),
    deleteResource: (resource_id) => remove({ resource_id }),
  };
}

interface Update {
  resource_id: string;
  changes: ResourceChanges;
}

type Updated = Awaited<ReturnType<Store['updateResource']>>;
