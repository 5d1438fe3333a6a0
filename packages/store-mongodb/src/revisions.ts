export interface Versioned {
  revision?: number;
}

export function atRevision(revision: number): { revision: number | { $exists: false } } {
  return { revision: revision === 0 ? { $exists: false } : revision };
}

export function revisionOf(document: Versioned | null): number {
  return document?.revision ?? 0;
}
