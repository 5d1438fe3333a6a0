import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { UnusableDatabase } from '@latchkey/store/unusable-database';
import { bytesOf, sizeOf } from './database-file.ts';

/** `LKey` in ASCII. SQLite keeps it in the header of a file, for whoever wonders whose it is. */
const APPLICATION_ID = 0x4c4b6579;

/** Something else is at the path of the database. It stays as it is. */
export class ForeignFile extends UnusableDatabase {
  override readonly name = 'ForeignFile';
}

/**
 * Reads the bytes alone: SQLite makes files beside some databases even to read them.
 *
 * @throws ForeignFile unless it is a database of Latchkey, an empty file or none
 */
export function refuseForeign(path: string): void {
  const what = whatElse(path);
  if (what === null) return;
  throw new ForeignFile(
    `${path} is not a database of Latchkey but ${what}. It was left as it is. Name a database of Latchkey or a new file, in DATABASE_URL or in the command.`,
  );
}

// https://sqlite.org/fileformat2.html: the header of the database, then that of its first page, which
// lists tables.
const HEADER = 100;
const MAGIC = Buffer.from('SQLite format 3\0');
const ID_AT = 68;
const LEAF = 0x0d;
const CELLS_AT = HEADER + 3;

function whatElse(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || (found.isFile() && found.size === 0)) return null;
  if (found.isDirectory()) return 'a directory';
  if (!found.isFile()) return 'no file at all';
  const bytes = bytesOf(path, 0, HEADER + 8);
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return 'another kind of file';
  const id = bytes.readUInt32BE(ID_AT);
  if (id === APPLICATION_ID) return null;
  const isBare = id === 0 && bytes[HEADER] === LEAF && bytes.readUInt16BE(CELLS_AT) === 0;
  // The tables may still be in the log. Ours has its id before it has a log.
  return isBare && !hasLog(path) ? null : 'that of another program';
}

const hasLog = (path: string) =>
  ['-wal', '-journal'].some((suffix) => sizeOf(`${path}${suffix}`) > 0);

/** Before there is a log, so that the file itself always tells whose it is. */
export function sign(database: DatabaseSync): void {
  const found = database.prepare('PRAGMA application_id').get()?.application_id;
  if (found === 0) database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
}
