import { type Given, type Givens, lessThan, when } from '../condition.ts';

// What many call sites have.

export interface OfId {
  id: string;
}

export const byId = ({ id }: Givens<OfId>) => ({ id });

/** Of a list, newest first. */
export interface Listed {
  before: string | null;
}

/** The rest of a list behind a record. */
export const olderThan = (before: Given<string | null>) => when(before, { id: lessThan(before) });
export const newestFirst = { by: ['id'], descending: true } as const;
