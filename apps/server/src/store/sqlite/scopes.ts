import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { ScopeRecord } from '../records.ts';

type DescriptionRow = { scope: string; description_id: Uint8Array };

type ScopeRow = { scope: string; title: string; description: string | null; texts: string };

const SCOPE = 'scope, title, description, texts';

export function prepareScopes(database: DatabaseSync) {
  const put = database.prepare(`
    INSERT INTO scopes (scope, title, description, texts, description_id)
    VALUES (:scope, :title, :description, :texts, :description_id)
    ON CONFLICT (scope) DO UPDATE SET
      title = excluded.title, description = excluded.description, texts = excluded.texts`);
  const countOthers = database.prepare(`
    SELECT count(*) AS others FROM scopes
    WHERE NOT EXISTS (SELECT 1 FROM scopes WHERE scope = :scope)`);
  const list = database.prepare(`SELECT ${SCOPE} FROM scopes ORDER BY scope`);
  const listNames = database.prepare('SELECT scope FROM scopes ORDER BY scope');
  const findIds = database.prepare(`
    SELECT scope, description_id FROM scopes WHERE scope IN (SELECT value FROM json_each(:scopes))`);
  const remove = database.prepare(`DELETE FROM scopes WHERE scope = :scope RETURNING ${SCOPE}`);

  return {
    putScope({ scope, title, description, texts }: ScopeRecord, { most }: { most: number }) {
      const { others } = countOthers.get({ scope }) as { others: number };
      if (others >= most) return 'scope_limit_reached';
      put.run(scopeRow({ scope, title, description, texts }));
      return 'put';
    },

    listScopes(): ScopeRecord[] {
      return (list.all() as ScopeRow[]).map(scopeRecord);
    },

    listScopeNames(): string[] {
      return (listNames.all() as Pick<ScopeRow, 'scope'>[]).map(({ scope }) => scope);
    },

    findDescriptionIds(scopes: readonly string[]): (string | null)[] {
      const rows = findIds.all({ scopes: JSON.stringify(scopes) }) as DescriptionRow[];
      const ids = new Map(rows.map((row) => [row.scope, uuidFromBytes(row.description_id)]));
      return scopes.map((scope) => ids.get(scope) ?? null);
    },

    deleteScope(scope: string): ScopeRecord | null {
      const row = remove.get({ scope }) as ScopeRow | undefined;
      return row ? scopeRecord(row) : null;
    },
  };
}

export function scopeRecord({ scope, title, description, texts }: ScopeRow): ScopeRecord {
  return { scope, title, description, texts: JSON.parse(texts) };
}

export function scopeRow({ scope, title, description, texts }: ScopeRecord) {
  return {
    ...{ scope, title, description, texts: JSON.stringify(texts) },
    description_id: uuidToBytes(randomUUID()),
  };
}
