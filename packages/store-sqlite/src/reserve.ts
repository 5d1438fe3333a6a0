import { randomFill } from 'node:crypto';
import { truncateSync } from 'node:fs';
import { open, rename, rm, statfs } from 'node:fs/promises';
import { promisify } from 'node:util';
import { sizeOf } from './database-file.ts';
import { partialOf, removeLeftovers } from './partial-files.ts';

const MIB = 1024 * 1024;

// The write-ahead log has up to 16 MiB that the database does not have yet. Once the database has taken
// them, the log starts again, and a revocation takes a few pages of it, of 4 KiB each.
const RESERVE_BYTES = 24 * MIB;
const STEP_BYTES = MIB;
// The rest is for what ends something.
const LEAST_FOR_OTHERS = RESERVE_BYTES / 4;

// It is made only where that leaves room.
const LEAST_FREE = 64 * MIB;

/** Room on the disk that is given back when it is full. */
export interface Reserve {
  /** Makes it as large as it should be, if the disk has room. */
  fill(): Promise<void>;
  /** @returns false if there is nothing left to give */
  give(options: { ends: boolean }): boolean;
}

export const noReserve: Reserve = { async fill() {}, give: () => false };

/** @param path - of the database. Every process that uses it shares the reserve. */
export function reserveBeside(path: string): Reserve {
  const reserve = `${path}-reserve`;
  return {
    async fill() {
      if (sizeOf(reserve) >= RESERVE_BYTES) return;
      const { bavail, bsize } = await statfs(path);
      if (bavail * bsize < LEAST_FREE + RESERVE_BYTES) return;
      // Of a process that was killed.
      removeLeftovers(reserve);
      const partial = partialOf(reserve);
      try {
        await write(partial);
        await rename(partial, reserve);
      } catch (error) {
        await rm(partial, { force: true });
        throw error;
      }
    },
    give({ ends }) {
      try {
        const left = sizeOf(reserve);
        if (left === 0 || (!ends && left <= LEAST_FOR_OTHERS)) return false;
        truncateSync(reserve, Math.max(0, left - STEP_BYTES));
        return true;
      } catch {
        // It is of another user, or the file system needs room to give some back.
        return false;
      }
    },
  };
}

/** Random bytes, since some file systems keep no room for zeros. */
async function write(path: string): Promise<void> {
  const step = Buffer.allocUnsafe(STEP_BYTES);
  const file = await open(path, 'w', 0o600);
  try {
    for (let written = 0; written < RESERVE_BYTES; written += STEP_BYTES) {
      await promisify(randomFill)(step);
      await file.write(step);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}
