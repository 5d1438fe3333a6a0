import { isDeepStrictEqual } from 'node:util';
import { resourceAfter } from '../generations.ts';
import type { ResourceRecord } from '../records.ts';
import type { Store } from '../store.ts';
import type { Database } from './database.ts';
import {
  ALL,
  fromResourceItem,
  type ResourcesDocument,
  toResourceItem,
} from './documents/resources.ts';
import { replaceAtRevision } from './replace-at-revision.ts';
import { retryOnConflict } from './retry-on-conflict.ts';

type Resources = Pick<
  Store,
  'createResource' | 'listResources' | 'updateResource' | 'deleteResource'
>;

/** What becomes of the list, and the result of the call. */
interface Changed<Result> {
  list: ResourceRecord[];
  result: Result;
  isMade(list: readonly ResourceRecord[]): boolean;
}

const byAddress = (one: ResourceRecord, other: ResourceRecord) =>
  one.resource < other.resource ? -1 : 1;

export function resources(database: Database): Resources {
  const find = () => database.decide(({ resources, decisive }) => resources.findOne(ALL, decisive));

  /** One document has them all, so nothing can come between the check of a change and its write. */
  function change<Result, Refusal extends string>(
    after: (list: ResourceRecord[]) => Changed<Result> | Refusal,
  ): Promise<Result | Refusal> {
    return retryOnConflict<ResourcesDocument, Result | Refusal>(
      async () => (await find()) ?? { ...ALL, list: [] },
      async (revision, found) => {
        const changed = after(found.list.map(fromResourceItem));
        if (typeof changed === 'string') return changed;
        const list = changed.list.map(toResourceItem);
        const isReplaced = await replaceAtRevision<ResourcesDocument>(
          database,
          (collections) => collections.resources,
          revision,
          { ...ALL, list },
          (later) => changed.isMade(later.list.map(fromResourceItem)),
        );
        return isReplaced && changed.result;
      },
    ) as Promise<Result | Refusal>;
  }

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

    async listResources({ mayBeStale = false } = {}) {
      const document = mayBeStale
        ? await database.read(({ resources, plain }) => resources.findOne(ALL, plain))
        : await find();
      return document?.list.map(fromResourceItem).sort(byAddress) ?? [];
    },

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
