import type { DatabaseSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import { resourceAfter } from '@latchkey/store/generations';
import type { ResourceChanges, ResourceRecord } from '@latchkey/store/records';

type ResourceRow = Omit<ResourceRecord, 'id' | 'scopes' | 'default_scopes'> & {
  id: Uint8Array;
  scopes: string | null;
  default_scopes: string | null;
};

export function prepareResources(database: DatabaseSync) {
  const insert = database.prepare(`
    INSERT INTO resources (id, resource, name, scopes, default_scopes, created_at, generation)
    VALUES (:id, :resource, :name, :scopes, :default_scopes, :created_at, :generation)`);
  const replace = database.prepare(`
    UPDATE resources SET name = :name, scopes = :scopes, default_scopes = :default_scopes,
      generation = :generation
    WHERE id = :id`);
  const count = database.prepare(`
    SELECT count(*) AS all_of_them, count(*) FILTER (WHERE resource = :resource) AS same
    FROM resources`);
  const list = database.prepare('SELECT * FROM resources ORDER BY resource');
  const find = database.prepare('SELECT * FROM resources WHERE id = :id');
  const remove = database.prepare('DELETE FROM resources WHERE id = :id RETURNING *');

  return {
    createResource(resource: ResourceRecord, { most }: { most: number }) {
      const { all_of_them, same } = count.get({ resource: resource.resource }) as {
        all_of_them: number;
        same: number;
      };
      if (same > 0) return 'resource_exists';
      if (all_of_them >= most) return 'resource_limit_reached';
      insert.run(resourceRow(resource));
      return 'created';
    },

    listResources(): ResourceRecord[] {
      return (list.all() as ResourceRow[]).map(resourceRecord);
    },

    updateResource(resource_id: string, changes: ResourceChanges) {
      const row = find.get({ id: uuidToBytes(resource_id) }) as ResourceRow | undefined;
      if (row === undefined) return 'resource_not_found';
      const changed = resourceAfter(resourceRecord(row), changes);
      if (changed === null) return 'default_scopes_outside';
      const { created_at: _, resource: __, ...columns } = resourceRow(changed);
      replace.run(columns);
      return changed;
    },

    deleteResource(resource_id: string): ResourceRecord | null {
      const row = remove.get({ id: uuidToBytes(resource_id) }) as ResourceRow | undefined;
      return row ? resourceRecord(row) : null;
    },
  };
}

export function resourceRecord(row: ResourceRow): ResourceRecord {
  const { resource, name, created_at, generation } = row;
  return {
    id: uuidFromBytes(row.id),
    ...{ resource, name, created_at, generation },
    scopes: row.scopes === null ? null : JSON.parse(row.scopes),
    default_scopes: row.default_scopes === null ? null : JSON.parse(row.default_scopes),
  };
}

export function resourceRow({ id, scopes, default_scopes, ...columns }: ResourceRecord) {
  return {
    ...columns,
    id: uuidToBytes(id),
    scopes: scopes && JSON.stringify(scopes),
    default_scopes: default_scopes && JSON.stringify(default_scopes),
  };
}
