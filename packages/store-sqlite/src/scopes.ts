import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { ScopeRecord } from '@latchkey/store/records';

type DescriptionRow = { scope: string; description_id: Uint8Array };

type ScopeRow = Omit<ScopeRecord, 'texts' | 'sensitive'> & { texts: string; sensitive: number };

const SCOPE = 'scope, title, description, texts, sensitive';

export function prepareScopes(database: DatabaseSync) {
  const put = database.prepare(`
    INSERT INTO scopes (scope, title, description, texts, sensitive, description_id)
    VALUES (:scope, :title, :description, :texts, :sensitive, :description_id)
    ON CONFLICT (scope) DO UPDATE SET
      title = excluded.title, description = excluded.description, texts = excluded.texts,
      sensitive = excluded.sensitive`);
  const countOthers = database.prepare(`
    SELECT count(*) AS others FROM scopes
    WHERE NOT EXISTS (SELECT 1 FROM scopes WHERE scope = :scope)`);
  const list = database.prepare(`SELECT ${SCOPE} FROM scopes ORDER BY scope`);
  const listNames = database.prepare('SELECT scope FROM scopes ORDER BY scope');
  const findIds = database.prepare(`
    SELECT scope, description_id FROM scopes WHERE scope IN (SELECT value FROM json_each(:scopes))`);
  const remove = database.prepare(`DELETE FROM scopes WHERE scope = :scope RETURNING ${SCOPE}`);

  return {
    putScope(record: ScopeRecord, { most }: { most: number }) {
      const { others } = countOthers.get({ scope: record.scope }) as { others: number };
      if (others >= most) return 'scope_limit_reached';
      put.run(scopeRow(record));
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

export function scopeRecord({
  scope,
  title,
  description,
  texts,
  sensitive,
}: ScopeRow): ScopeRecord {
  return { scope, title, description, texts: JSON.parse(texts), sensitive: sensitive === 1 };
}

export function scopeRow({ scope, title, description, texts, sensitive }: ScopeRecord) {
  return {
    ...{ scope, title, description, texts: JSON.stringify(texts), sensitive: Number(sensitive) },
    description_id: uuidToBytes(randomUUID()),
  };
}
