import type * as NodeSqlite from 'node:sqlite';
import { BadSetting } from '@latchkey/domain/bad-setting';

/** No `import`: a Node without SQLite has to get a message, and some bundlers strip `node:`. */
export function nodeSqlite(): typeof NodeSqlite {
  // Node 23.0 to 23.3 hide it behind a flag, and some systems build Node without it.
  const module = loadWithoutWarning();
  if (!module) {
    throw new BadSetting(
      `A "file:" DATABASE_URL needs a Node with SQLite, and ${process.execPath} is Node ${process.versions.node} without it. Install Node 24, or use a DATABASE_URL of another database.`,
    );
  }
  return module;
}

export const READ_ONLY = { readOnly: true };

/** Opens a file, and closes it in the end. */
export async function withDatabase<T>(
  path: string,
  use: (database: NodeSqlite.DatabaseSync) => T | Promise<T>,
  options: NodeSqlite.DatabaseSyncOptions = {},
): Promise<T> {
  const database = new (nodeSqlite().DatabaseSync)(path, options);
  try {
    return await use(database);
  } finally {
    database.close();
  }
}

/** Some Node releases print an experimental warning on the stderr of every command. */
function loadWithoutWarning(): typeof NodeSqlite | undefined {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: never[]) => {
    if (!String(warning).includes('SQLite is an experimental feature')) {
      emitWarning.call(process, warning, ...rest);
    }
  };
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}
