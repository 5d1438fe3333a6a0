import { existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Migration, planOf } from '@latchkey/store/schema-version';
import { emptyLog, retryWhileLocked, toStoreError } from './errors.ts';
import { refuseForeign } from './foreign-file.ts';
import { migrations, type SqliteStep, versionOf } from './migrations.ts';
import { nodeSqlite } from './node-sqlite.ts';
import { openDatabase, refuseMountedAlone } from './open-database.ts';
import { closeDatabase, refuseIncomplete } from './wal-mark.ts';

export async function openSqliteMigration(
  path: string,
  steps: readonly SqliteStep[] = migrations,
): Promise<Migration> {
  if (!existsSync(path)) {
    throw new Error(
      `There is no database at ${path}. Check DATABASE_URL and the directory that you are in; \`latchkey serve\` creates a database.`,
    );
  }
  refuseForeign(path);
  return {
    async plan() {
      const database = new (nodeSqlite().DatabaseSync)(path, { readOnly: true });
      try {
        const version = await retryWhileLocked(() => versionOf(database, path, steps));
        refuseIncomplete(database, path);
        const { bavail, bsize } = statfsSync(dirname(path));
        // A changed page is copied to the write-ahead log, and added data makes the file longer.
        const room = { size: statSync(path).size, free: bavail * bsize };
        return planOf(`file:${path}`, version, steps, room);
      } catch (error) {
        throw toStoreError(error);
      } finally {
        database.close();
      }
    },

    async run() {
      refuseMountedAlone(path);
      const database = await openDatabase(path, {
        create: false,
        migrate: 'all',
        migrations: steps,
      });
      try {
        await emptyLog(database);
      } finally {
        closeDatabase(database, path);
      }
    },

    async close() {},
  };
}
