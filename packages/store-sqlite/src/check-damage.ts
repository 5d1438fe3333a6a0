import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freemem } from 'node:os';
import { text } from 'node:stream/consumers';
import { stillText } from '@latchkey/domain/still-text';
import { type Finding, ok, problem, warning } from '@latchkey/store/finding';
import { sizeOf } from './database-file.ts';

/** A file that takes longer is checked at night, with `--deep`. */
const QUICK_SECONDS = 60;

// quick_check leaves out whether each index has what its table has, which takes most of the time:
// https://sqlite.org/pragma.html#pragma_quick_check.
const PRAGMA = { quick: 'quick_check(5)', deep: 'integrity_check(5)' };

const CHECK = `
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const [path, pragma, setup] = process.argv.slice(1);
  const database = new DatabaseSync(path, { readOnly: true });
  database.exec(setup);
  for (const row of database.prepare('PRAGMA ' + pragma).all()) console.log(Object.values(row)[0]);
`;

/** In a process of its own, which can be ended: SQLite would not return before it is done. */
export async function checkDamage(
  path: string,
  { deep, seconds = QUICK_SECONDS }: { deep: boolean; seconds?: number },
): Promise<Finding> {
  const words = [
    '--no-warnings',
    '-e',
    CHECK,
    path,
    ...(deep ? [PRAGMA.deep, cacheFor(path)] : [PRAGMA.quick, '']),
  ];
  const timeout = deep ? {} : { timeout: seconds * 1000, killSignal: 'SIGKILL' as const };
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'], ...timeout });
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  const found = stdout.trim();
  if (code === 0 && found === 'ok') return ok('damage', 'No page of the file is damaged.');
  if (signal !== null && found === '') {
    return warning(
      'damage',
      `The check of the file had not finished after ${seconds} s.`,
      'Run latchkey doctor --deep, which has no limit, or check a backup: it is verified as it is made.',
    );
  }
  const [first] = (found || stderr.match(/Error: .*/)?.[0] || 'it cannot be read').split('\n');
  return problem(
    'damage',
    `The file is damaged: ${stillText(`${first}`)}`,
    'Stop every process that uses it, and restore a backup: latchkey restore.',
  );
}

/**
 * A check of the indexes looks each row up in each of them, in no order. With a small cache, that reads most of the
 * file again and again.
 *
 * @returns a statement for the connection that checks
 */
export function cacheFor(path: string): string {
  // What the system has cached of files counts as used memory of a container, and is given back.
  const limit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  const bytes = Math.min(sizeOf(path), freemem() / 2, limit / 2);
  return `PRAGMA cache_size = -${Math.ceil(bytes / 1024)}`;
}
