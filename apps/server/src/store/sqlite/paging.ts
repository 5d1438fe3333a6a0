import { uuidToBytes } from '@latchkey/schema';
import type { Page } from '../store.ts';

// Sorts after every id: as long as one and a byte more. A bound that is always there lets the
// index find the start of the page, which `:before IS NULL OR id < :before` would not.
const AFTER_ALL = new Uint8Array(17).fill(0xff);

/** The parameters of a statement with `id < :before ORDER BY id DESC LIMIT :limit`. */
export function pageParameters({ limit, before }: Page) {
  return { limit, before: before === null ? AFTER_ALL : uuidToBytes(before) };
}
