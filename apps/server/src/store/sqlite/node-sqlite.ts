import type * as NodeSqlite from 'node:sqlite';

/**
 * Node's own SQLite. Taken at run time and not by an `import`, for three reasons: only a server
 * with a `file:` database needs it, a Node without it should say so in a sentence, and bundlers
 * that strip the `node:` of an import break this one, which has no other name.
 *
 * @throws Error where this Node has no `node:sqlite`
 */
export function nodeSqlite(): typeof NodeSqlite {
  const module = withoutSqliteWarning(loadSqlite);
  if (!module) {
    throw new Error(
      `A "file:" DATABASE_URL needs Node 22.13 or newer, which brings SQLite; this is Node ${process.versions.node}. Update Node, or use a "mongodb:" DATABASE_URL.`,
    );
  }
  return module;
}

function loadSqlite(): typeof NodeSqlite | undefined {
  const { getBuiltinModule }: Partial<NodeJS.Process> = process; // since Node 20.16
  return getBuiltinModule?.('node:sqlite');
}

/**
 * Up to some release of 24, Node warns on the first load of the module that it may change. What we
 * use of it did not, and the line would stand on the stderr of every command; all other warnings
 * pass.
 */
function withoutSqliteWarning<T>(load: () => T): T {
  const emitWarning = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: never[]) => {
    if (!String(warning).includes('SQLite is an experimental feature')) {
      emitWarning.call(process, warning, ...rest);
    }
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}
