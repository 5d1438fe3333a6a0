import { isLong } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changes } from '../scripts/measure/changes/changes.ts';
import { failureAfter, failureWithout } from '../scripts/measure/changes/prove.ts';
import { TreeCopy } from '../scripts/measure/changes/tree-copy.ts';

// Each makes changes in a copy of the tree, generates what follows, and runs the compiler and the tests of what is new.

const timeout = 3_600_000;

let copy: TreeCopy;
beforeAll(() => {
  copy = new TreeCopy();
});
afterAll(() => copy.remove());

test('the files of the guides are all that a change takes', { timeout }, () => {
  expect(failureAfter(copy, changes)).toBe('');
});

const notRun = isLong ? '' : ' (not run: npm run test:long has the time for it)';

// Half an hour of work.
describe.skipIf(!isLong).each(changes)(`to $name${notRun}`, (change) => {
  const needed = Object.keys(change.files).filter((path) => !change.proofs.includes(path));
  test.each(needed)('takes %s', { timeout }, (path) => {
    expect(failureWithout(copy, path, change)).not.toBe('');
  });
});
