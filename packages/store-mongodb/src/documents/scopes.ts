import { randomUUID } from 'node:crypto';
import type { ScopeRecord } from '@latchkey/store/records';
import type { Binary } from 'mongodb';
import type { Versioned } from '../retry-on-conflict.ts';
import { toId } from './values.ts';

export interface ScopeDocument extends Versioned, Omit<ScopeRecord, 'scope'> {
  _id: string;
  /** Another one after a deletion. */
  description_id: Binary;
}

/** A deleted description: see {@link ApplicationDocument.deleted_at}. */
export interface DeletedScopeDocument extends Versioned {
  _id: string;
  deleted_at: Date;
}

export function toScopeDocument(
  { scope, title, description, texts, sensitive }: ScopeRecord,
  description_id = toId(randomUUID()),
): ScopeDocument {
  return { _id: scope, title, description, texts, sensitive, description_id };
}

export function fromScopeDocument(document: ScopeDocument): ScopeRecord {
  const { _id, title, description, texts, sensitive } = document;
  return { scope: _id, title, description, texts, sensitive };
}
