import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

const RUN = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const { path, setup, statement, values } = workerData;
  let rows;
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    // On this thread, SQLite's own wait holds nothing up.
    database.exec('PRAGMA busy_timeout = 5000');
    database.exec(setup);
    rows = database.prepare(statement).all(...values);
  } finally {
    database.close();
  }
  parentPort.postMessage(rows);
`;

interface Work {
  path: string;
  /** Statements before it. */
  setup?: string;
  statement: string;
  values?: readonly string[];
}

/**
 * Runs a statement that only reads the file, on another thread: so this one can show how far it is.
 *
 * @returns its rows
 */
export async function runAside({
  setup = '',
  values = [],
  ...work
}: Work): Promise<Record<string, unknown>[]> {
  const workerData = { ...work, setup, values };
  const worker = new Worker(RUN, { eval: true, workerData, execArgv: ['--no-warnings'] });
  // What it throws is thrown here, with the code of SQLite.
  const [rows] = await once(worker, 'message');
  return rows;
}
