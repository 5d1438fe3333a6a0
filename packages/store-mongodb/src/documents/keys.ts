import type { KeyRecord } from '@latchkey/store/records';
import { fromSecretDocument, type SecretDocument, toSecretDocument } from './applications.ts';
import type { ListFormat } from './list-document.ts';

export interface KeyItem extends SecretDocument, Pick<KeyRecord, 'name' | 'role'> {}

export const keyFormat: ListFormat<KeyRecord, KeyItem> = {
  collection: 'keys',
  toItem: ({ name, role, ...secret }) => ({ name, role, ...toSecretDocument(secret) }),
  fromItem: ({ name, role, ...secret }) => ({ name, role, ...fromSecretDocument(secret) }),
};
