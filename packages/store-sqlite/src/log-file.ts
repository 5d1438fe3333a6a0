import { fstatSync, fsyncSync, ftruncateSync } from 'node:fs';
import { bytesIn, bytesOf, sizeOf, withFile } from './database-file.ts';

// https://sqlite.org/fileformat2.html#walformat: the header, and the frames, each of a page.
const HEADER = 32;
/** Its last bit is the byte order. */
const MAGIC = 0x377f0682;
const PAGE_SIZE_AT = 8;
const SALTS_AT = 16;
const SALTS = 8;
const FRAME_HEADER = 24;
const FRAME_SALTS_AT = 8;

/** A log that is emptied or only just created has no header, and no log begins without one. */
export function hasLog(path: string): boolean {
  const magic = bytesOfLog(path, 0, 4)?.readUInt32BE() ?? 0;
  return (magic & ~1) === MAGIC;
}

/**
 * Other ones once SQLite has begun the log anew, which it does only if the file has all that was in it.
 *
 * @returns empty if there is no log
 */
export const saltsOf = (path: string): string =>
  bytesOfLog(path, SALTS_AT, SALTS)?.toString('hex') ?? '';

/**
 * Cuts off what is left of a former log behind the end of this one, as SQLite does. In a transaction, so that
 * nobody else writes, or removes the log.
 */
export function cutOffFormer(path: string): void {
  if (sizeOf(`${path}-wal`) > 0) withFile(`${path}-wal`, cutOff, 'r+');
}

function cutOff(file: number): void {
  const { size } = fstatSync(file);
  const header = bytesIn(file, 0, HEADER);
  const salts = header.subarray(SALTS_AT, SALTS_AT + SALTS);
  const frame = FRAME_HEADER + header.readUInt32BE(PAGE_SIZE_AT);
  let end = HEADER;
  // A frame that was rolled back counts too.
  while (end + frame <= size && bytesIn(file, end + FRAME_SALTS_AT, SALTS).equals(salts)) {
    end += frame;
  }
  if (end >= size) return;
  ftruncateSync(file, end);
  fsyncSync(file);
}

/** Null if there is no log: another process that closes the file may remove it at any time. */
function bytesOfLog(path: string, at: number, length: number): Buffer | null {
  try {
    return bytesOf(`${path}-wal`, at, length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
