import type { CEILINGS } from '../ceilings.ts';

/** What a maintainer does by hand. What `npm run generate` writes afterwards is not counted. */
export interface Change {
  name: Extract<keyof typeof CEILINGS, `add ${string}`>;
  /** The chapter of `docs/extend.md` with the list of the files. */
  guide: string;
  files: Record<string, FileChange>;
  /** The test files, or folders of them, that pass once all of it is done. */
  tests: readonly string[];
  /** The files that only prove the new thing: without one, nothing fails, and a promise has no test. */
  proofs: readonly string[];
}

/** The text of a new file, or what becomes of one that is there. */
type FileChange = string | readonly Edit[];

/** `at` is in the file exactly once. */
type Edit = { at: string } & ({ before: string } | { after: string } | { instead: string });

/** The contents of the changed files, by their paths. */
export function contentsOf(
  { name, files }: { name: string } & Pick<Change, 'files'>,
  read: (path: string) => string,
): Map<string, string> {
  return new Map(
    Object.entries(files).map(([path, change]) => {
      if (typeof change === 'string') return [path, change];
      const fail = (what: string): never => {
        throw new Error(`${name} does not fit ${path}: ${what}. Correct scripts/measure/changes.`);
      };
      return [path, change.reduce((text, edit) => edited(text, edit, fail), read(path))];
    }),
  );
}

function edited(text: string, edit: Edit, fail: (what: string) => never): string {
  const [start, rest, ...more] = text.split(edit.at);
  if (start === undefined || rest === undefined || more.length > 0) {
    return fail(`it has ${text.split(edit.at).length - 1} times ${JSON.stringify(edit.at)}`);
  }
  if ('instead' in edit) return start + edit.instead + rest;
  if ('before' in edit) return start + edit.before + edit.at + rest;
  return start + edit.at + edit.after + rest;
}
