import type { ScopeRecord } from '../../records.ts';
import type { Versioned } from '../retry-on-conflict.ts';

export interface ScopeDocument extends Versioned, Omit<ScopeRecord, 'scope'> {
  _id: string;
}

/** A deleted description: see {@link ApplicationDocument.deleted_at}. */
export interface DeletedScopeDocument extends Versioned {
  _id: string;
  deleted_at: Date;
}

export function toScopeDocument({ scope, title, description, texts }: ScopeRecord): ScopeDocument {
  return { _id: scope, title, description, texts };
}

export function fromScopeDocument(document: ScopeDocument): ScopeRecord {
  const { _id, title, description, texts } = document;
  return { scope: _id, title, description, texts };
}
