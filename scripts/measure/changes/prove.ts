import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Change, contentsOf } from './change.ts';
import { root, type TreeCopy } from './tree-copy.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** How many files somebody has to edit. Throws if the change does not fit the tree as it is. */
export const priceOf = (change: Change): number => contentsOf(change, read).size;

/** What fails in a copy with all of the changes, and with what is generated; an empty text for nothing. */
export function failureAfter(copy: TreeCopy, changes: readonly Change[]): string {
  copy.reset();
  for (const change of changes) copy.write(contentsOf(change, copy.read));
  const files = changes.flatMap((change) => Object.keys(change.files));
  return (
    copy.run('biome', ['check', '--error-on-warnings', ...new Set(files)]) ||
    failureIn(
      copy,
      changes.flatMap(({ tests }) => tests),
    )
  );
}

/** What fails if a file is not changed. */
export function failureWithout(copy: TreeCopy, path: string, change: Change): string {
  copy.reset();
  const contents = contentsOf(change, copy.read);
  contents.delete(path);
  copy.write(contents);
  return failureIn(copy, change.tests);
}

const failureIn = (copy: TreeCopy, tests: readonly string[]): string =>
  generated(copy, TYPES) ||
  typechecked(copy) ||
  generated(copy, PAGES) ||
  copy.run('vitest', ['run', '--bail=1', '--exclude=**/*.slow.test.ts', ...new Set(tests)]);

const TYPES = ['packages/schema/', 'packages/client/'];
/** All others but the reference, which takes TypeDoc, and the statements that a MongoDB is sent. */
const PAGES = ['docs/checks', 'docs/operations', 'docs/protocol', 'examples.json', 'sqlite/'];

// Not `npm run generate`, which would install into what the copy shares.
const generated = (copy: TreeCopy, paths: readonly string[]) =>
  copy.run('node', ['scripts/generate.ts', ...paths]);

/** The parts that know operations, members and records, with the sources of the others. */
const PARTS = ['packages/store-suite', 'apps/server', 'tests'];

function typechecked(copy: TreeCopy): string {
  for (const part of PARTS) {
    const failure = copy.run('tsc', ['-p', part]);
    if (failure !== '') return failure;
  }
  return '';
}
