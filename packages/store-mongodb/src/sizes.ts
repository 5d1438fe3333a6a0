import type { Document } from 'mongodb';

/** @param stats - of the command dbStats */
export function sizesIn(stats: Document): { database: number; free: number | null } {
  const { fsTotalSize, fsUsedSize, storageSize, indexSize } = stats;
  return {
    database: storageSize + indexSize,
    free: fsTotalSize ? fsTotalSize - fsUsedSize : null,
  };
}
