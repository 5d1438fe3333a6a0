import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isLong } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { copyOfTree } from './planted-mistakes/copy-of-tree.ts';
import { type Mistake, mistakes } from './planted-mistakes/mistakes.ts';
import { withMistake } from './planted-mistakes/plant.ts';
import { environment, run } from './support/service.ts';

// Each run of a file takes some seconds. For one mistake:
// npm run test:long -- planted-mistakes.slow -t "a code is redeemed twice"

const notRun = isLong ? '' : ' (not run: npm run test:long has the time for it)';

describe.skipIf(!isLong)(`a mistake in the sources${notRun}`, () => {
  let copy: Awaited<ReturnType<typeof copyOfTree>>;
  beforeAll(async () => {
    copy = await copyOfTree();
  });
  afterAll(() => copy.remove());

  /** Runs test files of the copy as `npm test` does. Resolves to those that failed. */
  async function failedOf(files: readonly string[]): Promise<string[]> {
    const TEST_REPORT = join(copy.folder, 'report.json');
    await writeFile(TEST_REPORT, 'null');
    const vitest = join(copy.folder, 'node_modules/vitest/vitest.mjs');
    const reporter = '--reporter=./scripts/closing-line.ts';
    const words = [vitest, 'run', '--exclude', '**/*.slow.test.ts', reporter, ...files];
    // Each run would start a MongoDB of its own.
    const mongodb = inject('mongodbUrl');
    const env = environment({ TEST_REPORT, ...(mongodb && { TEST_DATABASE_URL: mongodb }) });
    const options = { cwd: copy.folder, env };
    const { stdout, stderr } = await run(process.execPath, words, options);
    const report = JSON.parse(await readFile(TEST_REPORT, 'utf8'));
    // A file that does not even load says nothing about a mistake.
    const line = expect.not.stringMatching(/^0 passed/);
    expect(report, stdout + stderr).toMatchObject({ line, failedOutside: false });
    return report.failedFiles;
  }

  test('is needed for a failure', async () => {
    expect(await failedOf([...new Set(mistakes.map(({ seenBy }) => seenBy))])).toEqual([]);
  });

  test.each(mistakes)('is seen: $name', async (mistake: Mistake) => {
    const { path, source, wrong } = await withMistake(copy.folder, mistake);
    await writeFile(path, wrong);
    try {
      expect(await failedOf([mistake.seenBy])).toEqual([mistake.seenBy]);
    } finally {
      await writeFile(path, source);
    }
  });
});
