import type { ScopeRecord } from '../../records.ts';
import type { StoredScope } from '../../transfer.ts';
import type { Versioned } from '../retry-on-conflict.ts';

/** The revision counts the puts and the deletions. */
export interface ScopeDocument extends Versioned, Omit<ScopeRecord, 'scope'> {
  _id: string;
  described_at: Date;
}

/** What stays of a deleted description: see {@link ApplicationDocument.deleted_at}. */
export interface DeletedScopeDocument extends Versioned {
  _id: string;
  deleted_at: Date;
}

export function fromScopeDocument(document: ScopeDocument): StoredScope {
  const { _id, described_at, title, description, texts } = document;
  return { scope: _id, described_at: described_at.getTime(), title, description, texts };
}
