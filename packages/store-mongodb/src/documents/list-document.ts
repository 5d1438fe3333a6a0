import type { Versioned } from '../retry-on-conflict.ts';

/** The only document of its collection: see decision 64. */
export interface ListDocument<Item> extends Versioned {
  _id: 'all';
  list: Item[];
}

export const ALL = { _id: 'all' } as const;

/** How the records of a list are stored. */
export interface ListFormat<Record, Item> {
  collection: 'resources' | 'keys';
  toItem(record: Record): Item;
  fromItem(item: Item): Record;
}
