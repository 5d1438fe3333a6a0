import type { Store } from '@latchkey/store/store';
import type { Database } from './database.ts';

/** PostgreSQL does not tell how much of the disk is free. */
export async function measure(database: Database): ReturnType<Store['measure']> {
  const [found] = await database.read(
    'SELECT pg_database_size(current_database()) AS database_bytes',
  );
  return { database_bytes: found?.database_bytes, free_bytes: null, backed_up_at: null };
}
