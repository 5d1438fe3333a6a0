import type { ResourceRecord } from '@latchkey/store/records';
import type { Binary } from 'mongodb';
import type { ListFormat } from './list-document.ts';
import { fromId, toDate, toId } from './values.ts';

export interface ResourceItem extends Omit<ResourceRecord, 'id' | 'created_at'> {
  id: Binary;
  created_at: Date;
}

export const resourceFormat: ListFormat<ResourceRecord, ResourceItem> = {
  collection: 'resources',
  toItem: ({ id, created_at, ...members }) => ({
    id: toId(id),
    created_at: toDate(created_at),
    ...members,
  }),
  fromItem({ id, resource, name, scopes, default_scopes, created_at, generation }) {
    return {
      id: fromId(id),
      ...{ resource, name, scopes, default_scopes, generation },
      created_at: created_at.getTime(),
    };
  },
};
