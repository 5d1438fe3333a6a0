import { createHash } from 'node:crypto';

// 60 bits: with the most names, 200 scopes, a line has 2 KB of them, and stays below 4 KiB.
const LENGTH = 10;

const markOf = (name: string) =>
  createHash('sha256').update(name).digest('base64url').slice(0, LENGTH);

/** For an audit line, which has no room for the names themselves. */
export function marksOf(names: readonly string[]): string {
  return names.map(markOf).join(' ');
}

export function withMarks(names: readonly string[], marks: string): string[] {
  const known = new Set(marks.split(' '));
  return names.filter((name) => known.has(markOf(name)));
}

/** In the place of marks: every described scope. */
export const EVERY_SCOPE = '*';

export const scopeMarksOf = (scopes: readonly string[] | null): string =>
  scopes === null ? EVERY_SCOPE : marksOf(scopes);
