import { type List, uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { ListRange } from '../store/store.ts';

interface ListInput {
  limit: number;
  cursor?: string | undefined;
}

/** A cursor is the id of the last record shown, so that records added meanwhile shift nothing. */
export async function readList<Stored, Item>(
  { limit, cursor }: ListInput,
  read: (range: ListRange) => Promise<Stored[]>,
  id: (record: Stored) => string,
  toWire: (record: Stored) => Item,
): Promise<List<Item>> {
  const before = cursor === undefined ? null : uuidFromBytes(Buffer.from(cursor, 'base64url'));
  // One record more than asked for shows whether there are more.
  const records = await read({ limit: limit + 1, before });
  const shown = records.slice(0, limit);
  const last = shown.at(-1);
  const more = records.length > limit && last !== undefined;
  return {
    object: 'list',
    data: shown.map(toWire),
    next_cursor: more ? Buffer.from(uuidToBytes(id(last))).toString('base64url') : null,
  };
}
