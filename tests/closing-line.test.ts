import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { type Environment, environment, run } from './support/service.ts';

const folder = fileURLToPath(new URL('support/closing-line', import.meta.url));
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));

/** What the reporter alone prints of a run, with the options that `scripts/run.mjs` gives it. */
async function linesOf(words: string[], env: Environment): Promise<string[]> {
  const args = [vitest, 'run', '--root', folder, ...words];
  const { stdout } = await run(process.execPath, args, { cwd: folder, env: environment(env) });
  return stdout.trim().split('\n');
}

const NOT_RUN = [
  '3 skipped: a suite (not run: there is no tool)',
  'another suite (not run: there is no database)',
  'another suite (not run: there is no browser)',
].join(', ');
const EVERY_DAY = ['--exclude', '**/*.slow.test.ts'];

test.each([
  { words: [], files: '2 slow test files' },
  { words: ['--project', 'tests'], files: '1 slow test file' },
])(
  'npm test $words leaves slow files and slow tests out, and says so',
  async ({ words, files }) => {
    expect(await linesOf([...EVERY_DAY, ...words, 'tests/mixed', 'tests/file'], {})).toEqual([
      `left out: ${files} and 2 slow tests (run: npm run test:all)`,
      `1 passed, 0 failed, ${NOT_RUN}`,
    ]);
  },
);

test.each([{ TEST_ALL: '1' }, { TEST_LONG: '1' }])('%j leaves nothing out', async (env) => {
  expect(await linesOf(['tests/mixed', 'tests/file'], env)).toEqual([
    `4 passed, 0 failed, ${NOT_RUN}`,
  ]);
});

test('tests chosen by name leave out the others without a list of them', async () => {
  const lines = await linesOf(['-t', 'every day', 'tests/mixed'], {});
  expect(lines.at(-1)).toBe('1 passed, 0 failed, 3 skipped');
});

test('a failed test is counted', async () => {
  expect((await linesOf(['tests/failing'], {})).at(-1)).toBe('0 passed, 1 failed');
});

test('the minutes of the parts of CI stand before the last line', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'latchkey-minutes-')), 'minutes');
  onTestFinished(() => rm(dirname(file), { recursive: true }));
  await writeFile(file, 'check 60.00 30.00 30.00\n');
  const [check, rest, last] = await linesOf(['tests/mixed', 'tests/file'], {
    ...{ TEST_ALL: '1', TEST_MINUTES: file },
  });
  expect(check).toMatch(/^check +1\.0 of \d+ minutes, +1\.0 of the CPU$/);
  expect(rest).toMatch(/^the rest +\d+\.\d of \d+ minutes$/);
  expect(last).toBe(`4 passed, 0 failed, ${NOT_RUN}`);
});

test('a skip says why, for the closing line', async () => {
  const silent: string[] = [];
  const pattern = '{{apps,packages}/*/{src,test},tests}/**/*.ts';
  const exclude = ['**/node_modules/**', 'tests/closing-line.test.ts'];
  const root = fileURLToPath(new URL('..', import.meta.url));
  for await (const file of glob(pattern, { cwd: root, exclude })) {
    const text = await readFile(join(root, file), 'utf8');
    for (const { index } of text.matchAll(/\b(?:skip|skipIf|runIf)\(/g)) {
      // In its title, near it, or as the note of `context.skip`.
      const around = text.slice(index - 200, index + 600);
      const says = /not run: |\bskip\((?:[^)]*, )?'|process\.platform/.test(around);
      if (!says) silent.push(`${file}: ${text.slice(index, index + 60)}`);
    }
  }
  expect(silent).toEqual([]);
});
