import type { StoredGrant } from './stored-grants.ts';

/** The grants of a database, put there past the service. */
export interface Shelf {
  /** Adds grants. */
  add(grants: readonly StoredGrant[]): Promise<void>;
  /** Makes grants what they were when they were added. */
  restore(grants: readonly StoredGrant[]): Promise<void>;
  /** Deletes all grants that are newer than one, by their ids. */
  removeAfter(grant_id: string): Promise<void>;
  close(): Promise<void>;
}
