import { createHash } from 'node:crypto';
import { uuidToBytes } from '@latchkey/schema';

/** Of 32 ids, it takes a sixteenth of the room. */
export function hashIds(ids: readonly string[]): Uint8Array {
  const hash = createHash('sha256');
  for (const id of ids) hash.update(uuidToBytes(id));
  return hash.digest();
}
