import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@latchkey/domain/clock';
import type { Store } from '@latchkey/store/store';
import { allOf, type Collections, type Database } from './database.ts';
import {
  type DeletedScopeDocument,
  fromScopeDocument,
  type ScopeDocument,
  toScopeDocument,
} from './documents/scopes.ts';
import { fromId, toDate } from './documents/values.ts';
import type { DecisiveOptions } from './fence.ts';
import { replaceAtRevision } from './replace-at-revision.ts';
import { retryOnConflict } from './retry-on-conflict.ts';

type Scopes = Pick<
  Store,
  'putScope' | 'listScopes' | 'listScopeNames' | 'findDescriptionIds' | 'deleteScope'
>;

type AnyScope = ScopeDocument | DeletedScopeDocument;

const described = { deleted_at: { $exists: false } };

export function scopes(database: Database, clock: Clock): Scopes {
  const find = (scope: string) =>
    database.decide(({ scopes, decisive }) => scopes.findOne({ _id: scope }, decisive));

  const replace = (revision: number, scope: AnyScope, isMade: (found: AnyScope) => boolean) =>
    replaceAtRevision<AnyScope>(
      database,
      (collections) => collections.scopes,
      revision,
      scope,
      isMade,
    );

  return {
    async putScope(scope, { most }) {
      const none = { _id: scope.scope, deleted_at: toDate(clock()) };
      const put = await retryOnConflict<AnyScope, 'put' | 'scope_limit_reached'>(
        async () => (await find(scope.scope)) ?? none,
        async (revision, found) => {
          if (isDeleted(found)) {
            const others = await database.read(({ scopes, listing: { readConcern } }) =>
              scopes.countDocuments(described, { readConcern }),
            );
            if (others >= most) return 'scope_limit_reached';
          }
          const known = isDeleted(found) ? undefined : found.description_id;
          const document = toScopeDocument(scope, known);
          const isMade = (after: AnyScope) =>
            !isDeleted(after) &&
            isDeepStrictEqual(fromScopeDocument(after), fromScopeDocument(document));
          return (await replace(revision, document, isMade)) && 'put';
        },
      );
      return put ?? 'put';
    },

    async listScopes() {
      const documents = await database.read(({ scopes, listing }) =>
        scopes.find(described, listing).sort({ _id: 1 }).toArray(),
      );
      return (documents as ScopeDocument[]).map(fromScopeDocument);
    },

    async listScopeNames() {
      const documents = await database.read(({ scopes, listing }) =>
        scopes
          .find(described, { ...listing, projection: { _id: 1 } })
          .sort({ _id: 1 })
          .toArray(),
      );
      return documents.map(({ _id }) => _id);
    },

    async findDescriptionIds(names, { mayBeStale = false } = {}) {
      const find = (
        collections: Pick<Collections, 'scopes'>,
        options: DecisiveOptions,
        _id: string | { $in: string[] },
      ) =>
        collections.scopes
          .find({ _id, ...described }, { ...options, projection: { description_id: 1 } })
          .toArray() as Promise<ScopeDocument[]>;
      const together = { $in: [...names] };
      const documents = mayBeStale
        ? await database.read((collections) => find(collections, collections.listing, together))
        : await database.decide(async ({ decisive, ...collections }) => {
            if (decisive.readConcern.level !== 'linearizable') {
              return find(collections, decisive, together);
            }
            // A linearizable read has to be of one document.
            return (await allOf(names.map((name) => find(collections, decisive, name)))).flat();
          });
      const ids = new Map(
        documents.map(({ _id, description_id }) => [_id, fromId(description_id)]),
      );
      return names.map((name) => ids.get(name) ?? null);
    },

    deleteScope: (scope) =>
      retryOnConflict(
        async () => {
          const found = await find(scope);
          return found && !isDeleted(found) ? found : null;
        },
        async (revision, found) => {
          const deleted = { _id: scope, deleted_at: toDate(clock()) };
          return (await replace(revision, deleted, isDeleted)) && fromScopeDocument(found);
        },
      ),
  };
}

function isDeleted(document: AnyScope): document is DeletedScopeDocument {
  return 'deleted_at' in document;
}
