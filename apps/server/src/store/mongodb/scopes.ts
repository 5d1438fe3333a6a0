import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../clock.ts';
import type { ScopeRecord } from '../records.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import {
  type DeletedScopeDocument,
  fromScopeDocument,
  type ScopeDocument,
} from './documents/scopes.ts';
import { toDate } from './documents/values.ts';
import { replaceAtRevision } from './replace-at-revision.ts';
import { retryOnConflict } from './retry-on-conflict.ts';

type Scopes = Pick<Store, 'putScope' | 'listScopes' | 'listScopeNames' | 'deleteScope'>;

type AnyScope = ScopeDocument | DeletedScopeDocument;

const described = { deleted_at: { $exists: false } };

export function scopes(connection: Connection, clock: Clock): Scopes {
  const find = (scope: string) =>
    connection.decide(({ scopes, decisive }) => scopes.findOne({ _id: scope }, decisive));

  const replace = (revision: number, scope: AnyScope, isMade: (found: AnyScope) => boolean) =>
    replaceAtRevision<AnyScope>(connection, (database) => database.scopes, revision, scope, isMade);

  return {
    async putScope(scope, { most }) {
      const described_at = toDate(clock());
      const put = await retryOnConflict<AnyScope, 'put' | 'scope_limit_reached'>(
        async () => (await find(scope.scope)) ?? { _id: scope.scope, deleted_at: described_at },
        async (revision, found) => {
          const isNew = isDeleted(found);
          if (isNew) {
            const others = await connection.read(({ scopes, listing: { readConcern } }) =>
              scopes.countDocuments(described, { readConcern }),
            );
            if (others >= most) return 'scope_limit_reached';
          }
          const document: ScopeDocument = {
            _id: scope.scope,
            described_at: isNew ? described_at : found.described_at,
            title: scope.title,
            description: scope.description,
            texts: scope.texts,
          };
          const isMade = (after: AnyScope) =>
            !isDeleted(after) && isDeepStrictEqual(toRecord(after), toRecord(document));
          return (await replace(revision, document, isMade)) && 'put';
        },
      );
      return put ?? 'put';
    },

    async listScopes() {
      const documents = await connection.read(({ scopes, listing }) =>
        scopes.find(described, listing).sort({ _id: 1 }).toArray(),
      );
      return (documents as ScopeDocument[]).map(toRecord);
    },

    async listScopeNames() {
      const documents = await connection.read(({ scopes, listing }) =>
        scopes
          .find(described, { ...listing, projection: { _id: 1 } })
          .sort({ _id: 1 })
          .toArray(),
      );
      return documents.map(({ _id }) => _id);
    },

    deleteScope: (scope) =>
      retryOnConflict(
        async () => {
          const found = await find(scope);
          return found && !isDeleted(found) ? found : null;
        },
        async (revision, found) => {
          const mark = { _id: scope, deleted_at: toDate(clock()) };
          return (await replace(revision, mark, isDeleted)) && toRecord(found);
        },
      ),
  };
}

function isDeleted(document: AnyScope): document is DeletedScopeDocument {
  return 'deleted_at' in document;
}

function toRecord(document: ScopeDocument): ScopeRecord {
  const { described_at: _, ...record } = fromScopeDocument(document);
  return record;
}
