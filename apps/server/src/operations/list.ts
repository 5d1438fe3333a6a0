import { type List, uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { ListRange } from '@latchkey/store/store';

export interface ListInput {
  limit: number;
  cursor?: string | undefined;
}

/** A cursor is the id of the last record shown, so that records added meanwhile shift nothing. */
export const idOfCursor = (cursor: string | undefined): string | null =>
  cursor === undefined ? null : uuidFromBytes(Buffer.from(cursor, 'base64url'));

const cursorOfId = (id: string) => Buffer.from(uuidToBytes(id)).toString('base64url');

/** @param before - the id before which the next page begins; null at the end */
export const pageOf = <Item>(data: Item[], before: string | null): List<Item> => ({
  object: 'list',
  data,
  next_cursor: before === null ? null : cursorOfId(before),
});

export function readList<Stored, Item>(
  { limit, cursor }: ListInput,
  read: (range: ListRange) => Promise<Stored[]>,
  id: (record: Stored) => string,
  toWire: (record: Stored) => Item,
): Promise<List<Item>> {
  const ofId = (record: Stored) => cursorOfId(id(record));
  const before = idOfCursor(cursor);
  return readPage(limit, (most) => read({ limit: most, before }), ofId, toWire);
}

export async function readPage<Stored, Item>(
  limit: number,
  read: (most: number) => Promise<Stored[]>,
  cursorOf: (record: Stored) => string,
  toWire: (record: Stored) => Item,
): Promise<List<Item>> {
  // One record more than asked for shows whether there are more.
  const records = await read(limit + 1);
  const shown = records.slice(0, limit);
  const last = shown.at(-1);
  const more = records.length > limit && last !== undefined;
  return { object: 'list', data: shown.map(toWire), next_cursor: more ? cursorOf(last) : null };
}
