import { type Migration, planOf } from '@latchkey/store/schema-version';
import { type Db, MongoServerError } from 'mongodb';
import { createClient, databaseName, defaultTimeouts } from './client.ts';
import { concernsFor } from './concerns.ts';
import { configurationError, withHint } from './configuration-error.ts';
import { refuseNew } from './indexes.ts';
import { type MongoStep, migrate, migrations, versionOf } from './migrations.ts';
import { askServer } from './server.ts';

export async function openMongoMigration(
  url: string,
  steps: readonly MongoStep[] = migrations,
): Promise<Migration> {
  const { client, name } = createClient(url, defaultTimeouts);
  try {
    await client.connect();
    const db = client.db(name);
    const concerns = concernsFor(await askServer(db), defaultTimeouts);
    await refuseNew(db, defaultTimeouts.operation);
    return {
      plan: async () =>
        planOf(
          databaseName(client, name),
          await versionOf(db, concerns, steps),
          steps,
          await roomOf(db),
        ),
      run: () => migrate(db, concerns, { migrate: 'all', migrations: steps }),
      close: () => client.close(),
    };
  } catch (error) {
    await client.close();
    throw configurationError(error, new Set()) ?? withHint(error);
  }
}

const UNAUTHORIZED = 13;

async function roomOf(db: Db): Promise<{ size: number; free: number | null }> {
  try {
    const { storageSize, indexSize, fsTotalSize, fsUsedSize } = await db.stats();
    const free = fsTotalSize === undefined ? null : fsTotalSize - fsUsedSize;
    return { size: storageSize + indexSize, free };
  } catch (error) {
    const isRefused = error instanceof MongoServerError && error.code === UNAUTHORIZED;
    if (isRefused) return { size: 0, free: null };
    throw error;
  }
}
