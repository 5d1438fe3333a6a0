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
  afterAll(() => copy?.remove());

  /** Runs test files of the copy as `npm test` does. Resolves to those that failed, and how many of their tests did. */
  async function failedOf(files: readonly string[]): Promise<{ files: string[]; tests: number }> {
    const TEST_REPORT = join(copy.folder, 'report.json');
    await writeFile(TEST_REPORT, 'null');
    const vitest = join(copy.folder, 'node_modules/vitest/vitest.mjs');
    const results = join(copy.folder, 'results.json');
    const reporters = ['--reporter=./scripts/closing-line.ts', '--reporter=json'];
    const options = ['--exclude', '**/*.slow.test.ts', ...reporters, `--outputFile=${results}`];
    const words = [vitest, 'run', ...options, ...files];
    // Each run would start a MongoDB of its own.
    const mongodb = inject('mongodbUrl');
    const env = environment({ TEST_REPORT, ...(mongodb && { TEST_DATABASE_URL: mongodb }) });
    const { stdout, stderr } = await run(process.execPath, words, { cwd: copy.folder, env });
    const report = JSON.parse(await readFile(TEST_REPORT, 'utf8'));
    expect(report, stdout + stderr).toMatchObject({ failedOutside: false });
    const { numFailedTests } = JSON.parse(await readFile(results, 'utf8'));
    return { files: report.failedFiles, tests: numFailedTests };
  }

  test('is needed for a failure', async () => {
    expect(await failedOf([...new Set(mistakes.map(({ seenBy }) => seenBy))])).toEqual({
      files: [],
      tests: 0,
    });
  });

  test.each(mistakes)('is seen: $name', async (mistake: Mistake) => {
    const { path, source, wrong } = await withMistake(copy.folder, mistake);
    await writeFile(path, wrong);
    try {
      const { files, tests } = await failedOf([mistake.seenBy]);
      expect(files).toEqual([mistake.seenBy]);
      // A file that does not even load says nothing about a mistake.
      expect(tests).toBeGreaterThan(0);
    } finally {
      await writeFile(path, source);
    }
  });
});
