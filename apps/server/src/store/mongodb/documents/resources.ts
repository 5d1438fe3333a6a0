import type { Binary } from 'mongodb';
import type { ResourceRecord } from '../../records.ts';
import type { Versioned } from '../retry-on-conflict.ts';
import { fromId, toDate, toId } from './values.ts';

export interface ResourceItem extends Omit<ResourceRecord, 'id' | 'created_at'> {
  id: Binary;
  created_at: Date;
}

/** The only document: see decision 64. */
export interface ResourcesDocument extends Versioned {
  _id: 'all';
  list: ResourceItem[];
}

export const ALL = { _id: 'all' } as const;

export function toResourceItem({ id, created_at, ...members }: ResourceRecord): ResourceItem {
  return { id: toId(id), created_at: toDate(created_at), ...members };
}

export function fromResourceItem(item: ResourceItem): ResourceRecord {
  const { resource, name, scopes, default_scopes, generation } = item;
  return {
    id: fromId(item.id),
    ...{ resource, name, scopes, default_scopes, generation },
    created_at: item.created_at.getTime(),
  };
}
