import { randomUUID } from 'node:crypto';
import type { Clock } from '@latchkey/domain/clock';
import type { Adapter } from '../adapter.ts';
import { type Givens, oneOf } from '../condition.ts';
import type { ReadOptions } from '../inputs.ts';
import { scopes as kind } from '../kinds.ts';
import type { ScopeRecord } from '../records.ts';

const SCOPE = ['scope', 'title', 'description', 'texts', 'sensitive'] as const;

const described = { deleted_at: null } as const;
const byName = { order: { by: ['scope'] } } as const;

export function scopes(db: Adapter, clock: Clock) {
  const count = db.count(kind, () => described);
  const put = db.modify(
    kind,
    ({ scope }: NewScope) => scope.scope,
    (found, { scope, isFull, description_id }) => {
      const isNew = found === null || found.deleted_at !== null;
      if (isNew && isFull) return { result: 'scope_limit_reached' as const };
      const known = isNew ? description_id : found.description_id;
      const replacement = { ...scope, description_id: known, deleted_at: null };
      return { result: 'put' as const, put: replacement };
    },
  );
  const remove = db.modify(
    kind,
    ({ scope }: { scope: string; now: number }) => scope,
    (found, { now }) => {
      if (found === null || found.deleted_at !== null) return { result: null };
      return {
        result: scopeOf(found),
        put: { ...NOTHING, deleted_at: now },
        isMade: ({ deleted_at }) => deleted_at !== null,
      };
    },
    { ends: true },
  );
  const list = db.list(kind, () => described, SCOPE, scopeOf, byName);
  const listNames = db.list(
    kind,
    () => described,
    ['scope'],
    ({ scope }) => scope,
    byName,
  );
  const ID = ['scope', 'description_id', 'sensitive'] as const;
  const findId = db.find(
    kind,
    ({ scope }: Givens<{ scope: string }>) => ({ scope, ...described }),
    ID,
    (found) => found,
  );
  const listIds = db.list(
    kind,
    ({ scopes }: Givens<{ scopes: readonly string[] }>) => ({ scope: oneOf(scopes), ...described }),
    ID,
    (found): [string, Described] => [found.scope, found],
  );

  return {
    /**
     * Inserts the description of a scope, or replaces it as a whole. Refuses a new one if there are
     * `most`. Concurrent calls may exceed that by their number.
     */
    async putScope(
      scope: ScopeRecord,
      { most }: { most: number },
    ): Promise<'put' | 'scope_limit_reached'> {
      const isFull = (await count({ limit: most })) >= most;
      return put({ scope, isFull, description_id: randomUUID() });
    },

    /** All scopes, by name. */
    listScopes: () => list({}),

    /** All names, in order. The descriptions can be a few megabytes, which this does not read. */
    listScopeNames: () => listNames({}),

    /**
     * The id of each scope's description, in their order; null for one that is not described. A
     * description keeps its id when it is replaced. One that is put after a deletion has another.
     *
     * @param options.withSensitive - false: null for one that is sensitive, too. Default: true
     */
    async findDescriptionIds(
      scopes: readonly string[],
      { mayBeStale = false, withSensitive = true }: ReadOptions & { withSensitive?: boolean } = {},
    ): Promise<(string | null)[]> {
      const listed = mayBeStale ? new Map(await listIds({ scopes })) : null;
      const found = await Promise.all(
        scopes.map((scope) => (listed === null ? findId({ scope }) : (listed.get(scope) ?? null))),
      );
      return found.map((one) =>
        one !== null && (withSensitive || !one.sensitive) ? one.description_id : null,
      );
    },

    /** Returns the deleted description; null if there is none. */
    deleteScope: (scope: string) => remove({ scope, now: clock() }),
  };
}

interface Described {
  description_id: string;
  sensitive: boolean;
}

interface NewScope {
  scope: ScopeRecord;
  isFull: boolean;
  /** If it has none. */
  description_id: string;
}

/** What is left of a deleted description. */
const NOTHING = { title: '', description: null, texts: {}, sensitive: false };

const scopeOf = ({ scope, title, description, texts, sensitive }: ScopeRecord): ScopeRecord => ({
  ...{ scope, title, description, texts, sensitive },
});
