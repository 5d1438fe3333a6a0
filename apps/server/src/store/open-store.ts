import type { Clock } from '../clock.ts';
import type { Store } from './store.ts';

/** What every adapter works with. */
export interface StoreOptions {
  clock: Clock;
  /** Hears of what failed behind the calls, such as housekeeping that will be tried again. */
  onError?: (error: unknown) => void;
}

/**
 * Opens the store that a DATABASE_URL names. The adapter is loaded only when it is the one, so that
 * a start on SQLite doesn't pay for the MongoDB driver.
 *
 * @param url - `file:` with a path, or `file::memory:`, for the embedded SQLite; `mongodb://` or
 *   `mongodb+srv://` for MongoDB
 * @throws Error with one line for a person, where the database refuses for good
 */
export async function openStore(url: string, options: StoreOptions): Promise<Store> {
  if (url.startsWith('file:')) {
    const { openSqliteStore } = await import('./sqlite/sqlite-store.ts');
    return openSqliteStore({ path: sqlitePath(url), ...options });
  }
  const { openMongoStore } = await import('./mongodb/mongo-store.ts');
  return openMongoStore({ url, ...options });
}

/** `file:./a.db`, `file:/a.db`, `file:///a.db` and `file::memory:` as SQLite wants them. */
function sqlitePath(url: string): string {
  const path = url.slice('file:'.length);
  return path.startsWith('//') ? decodeURIComponent(new URL(url).pathname) : path;
}
