import { execFileSync } from 'node:child_process';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';

// node:sqlite does not say what a statement examined. So the statements of every operation are
// recorded, and Python runs them again, in their order, on a copy of the database: it counts the
// instructions of SQLite's virtual machine. A loop takes at least one for each row that it
// examines; the height of a tree takes none. Python has an SQLite of its own, perhaps an older one.

type Parameters = unknown[] | Record<string, unknown>;

/** A statement, as it was sent. */
export type Sent = readonly [sql: string, parameters: Parameters];

export interface Replayed {
  sql: string;
  instructions: number;
  /** How many it returned, or changed. */
  rows: number;
}

export const isOfRows = (sql: string) => /^\s*(SELECT|WITH|UPDATE|DELETE|INSERT|REPLACE)/.test(sql);

export function record(onPrepared: (sql: string) => void = () => {}) {
  const statements: Sent[] = [];
  let database: DatabaseSync | undefined;
  const { prepare, exec } = DatabaseSync.prototype;
  vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (
    this: DatabaseSync,
    sql,
    ...options
  ) {
    database = this;
    onPrepared(sql);
    return prepare.call(this, sql, ...options);
  });
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    statements.push([sql, []]);
    return exec.call(this, sql);
  });
  for (const name of ['run', 'get', 'all'] as const) {
    const run = StatementSync.prototype[name] as (...given: unknown[]) => unknown;
    vi.spyOn(StatementSync.prototype, name).mockImplementation(function (
      this: StatementSync,
      ...given: unknown[]
    ) {
      const [first] = given;
      const isNamed = typeof first === 'object' && first !== null && !ArrayBuffer.isView(first);
      statements.push([this.sourceSQL, isNamed ? (first as Parameters) : given]);
      return run.apply(this, given);
    } as never);
  }
  return {
    statements,
    database: () => database as DatabaseSync,
    stop: () => vi.restoreAllMocks(),
  };
}

/** Runs those that are about rows again, on a copy of the database. */
export function replay(path: string, statements: readonly Sent[]): Replayed[] {
  const runnable = statements.filter(([sql]) => isRunnable(sql));
  const lines = runnable.map(([sql, parameters]) => {
    const given = Array.isArray(parameters)
      ? parameters.map(plain)
      : Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, plain(value)]));
    return JSON.stringify([sql, given]);
  });
  const program = fileURLToPath(new URL('replay.py', import.meta.url));
  const output = execFileSync('python3', [program, path], {
    input: lines.join('\n'),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return output
    .trim()
    .split('\n')
    .map((line, index) => {
      const [instructions, rows] = JSON.parse(line) as [number, number];
      return { sql: runnable[index]?.[0] ?? '', instructions, rows };
    });
}

/** A transaction is not replayed. */
export const isRunnable = (sql: string) =>
  !/^(?:PRAGMA|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)/.test(sql);

function plain(parameter: unknown): unknown {
  if (parameter instanceof Uint8Array) return [...parameter];
  return typeof parameter === 'bigint' ? Number(parameter) : parameter;
}
