import type { AnyKind } from '@latchkey/store/kind';
import * as kinds from '@latchkey/store/kinds';
import type { Db, Document } from 'mongodb';
import { ConfigurationError } from './configuration-error.ts';

const collections = [
  ...Object.values<AnyKind>(kinds).map(({ name }) => name),
  ...['hour_counts', 'rate_limit_counts', 'schema', 'fences'],
].toSorted();
export const needed = ['find', 'insert', 'update', 'remove', 'listIndexes'];

interface Privilege {
  resource: { db?: string; collection?: string; anyResource?: boolean };
  actions: string[];
}

/** A missing right would otherwise show only in the first request that needs it. */
export async function checkRights(db: Db, maxTimeMS: number): Promise<void> {
  const { authInfo } = await db.command({ connectionStatus: 1, showPrivileges: true, maxTimeMS });
  const [missing] = missingRights(authInfo, db.databaseName, needed);
  if (missing === undefined) return;
  throw new ConfigurationError(
    `the user may not ${missing.actions.join(', ')} in the collection ${missing.collection}: grant it the role readWrite on the database ${db.databaseName}, or the rights in docs/operations/mongodb.md`,
  );
}

export function missingRights(
  authInfo: Document | undefined,
  database: string,
  actions: readonly string[],
): { collection: string; actions: string[] }[] {
  if (!authInfo?.authenticatedUsers?.length) return [];
  const privileges: Privilege[] = authInfo.authenticatedUserPrivileges ?? [];
  const allows = (collection: string, action: string) =>
    privileges.some(
      ({ resource, actions }) => actions.includes(action) && covers(resource, database, collection),
    );
  return collections
    .map((collection) => ({
      collection,
      actions: actions.filter((action) => !allows(collection, action)),
    }))
    .filter((missing) => missing.actions.length > 0);
}

function covers(resource: Privilege['resource'], database: string, collection: string): boolean {
  if (resource.anyResource) return true;
  const { db, collection: name } = resource;
  return (db === '' || db === database) && (name === '' || name === collection);
}
