import type { Clock } from '../clock.ts';
import { sqlitePath } from '../database-url.ts';
import type { Finding } from './finding.ts';
import type { Migration } from './schema-version.ts';
import type { Store, StoreOptions } from './store.ts';
import type { Transfer } from './transfer.ts';

/** A start on SQLite does not load the MongoDB driver. */
export async function openStore(url: string, options: StoreOptions): Promise<Store> {
  if (url.startsWith('file:')) {
    const { openSqliteStore } = await import('./sqlite/sqlite-store.ts');
    return openSqliteStore({ path: sqlitePath(url), ...options });
  }
  const { openMongoStore } = await import('./mongodb/mongo-store.ts');
  return openMongoStore({ url, ...options });
}

/**
 * Opens a database to copy from.
 *
 * @param options.last - whether it is the last copy. On SQLite, no other process can use it until it is closed
 */
export async function openSource(url: string, options: { last?: boolean } = {}): Promise<Transfer> {
  if (url.startsWith('file:')) {
    const { openSqliteSource } = await import('./sqlite/transfer.ts');
    return openSqliteSource(sqlitePath(url), options);
  }
  const { openMongoSource } = await import('./mongodb/transfer.ts');
  return openMongoSource(url);
}

export async function openTarget(url: string): Promise<Transfer> {
  if (url.startsWith('file:')) {
    const { openSqliteTarget } = await import('./sqlite/transfer.ts');
    return openSqliteTarget(sqlitePath(url));
  }
  const { openMongoTarget } = await import('./mongodb/transfer.ts');
  return openMongoTarget(url);
}

export async function* inspectDatabase(
  url: string,
  { clock, deep, ...indexes }: { clock: Clock; deep: boolean; reducesRevoked: boolean },
): AsyncGenerator<Finding> {
  if (url.startsWith('file:')) {
    const { inspectSqlite } = await import('./sqlite/inspect.ts');
    yield* inspectSqlite(sqlitePath(url), { clock, deep });
  } else {
    const { inspectMongodb } = await import('./mongodb/inspect.ts');
    yield* inspectMongodb(url, clock, indexes);
  }
}

export async function openMigration(url: string): Promise<Migration> {
  if (url.startsWith('file:')) {
    const { openSqliteMigration } = await import('./sqlite/migration.ts');
    return openSqliteMigration(sqlitePath(url));
  }
  const { openMongoMigration } = await import('./mongodb/migration.ts');
  return openMongoMigration(url);
}
