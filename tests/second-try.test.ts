import { existsSync } from 'node:fs';
import { glob, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { slow } from '@latchkey/test-kit/long';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { maySecondTry, NO_SECOND_TRY } from '../scripts/ci/no-second-try.mjs';
import { type Environment, environment, run } from './support/service.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const script = join(root, 'scripts/ci/second-try.mjs');

describe('in CI', () => {
  const planted = join(root, 'tests/support/second-try');
  let attempts: string;
  beforeEach(async () => {
    attempts = await mkdtemp(join(tmpdir(), 'latchkey-attempts-'));
  });
  afterEach(() => rm(attempts, { recursive: true }));

  /** Runs files as CI does. Resolves to the last lines and the number of attempts of flaky tests. */
  async function runFiles(...files: string[]) {
    const { exitCode, lines } = await runWith({}, ...files);
    return { exitCode, last: lines.slice(-2), attempts: (await readdir(attempts)).length };
  }

  async function runWith(more: Environment, ...files: string[]) {
    const env = environment({ ATTEMPTS: attempts, PLANTED: files.join(' '), ...more });
    const words = [script, 'planted'];
    const { exitCode, stdout } = await run(process.execPath, words, { cwd: planted, env });
    return { exitCode, lines: stdout.trim().split('\n') };
  }

  test('a run without a failure is not repeated', slow, async () => {
    const { exitCode, last } = await runFiles('passing.test.ts');
    expect([exitCode, last.at(-1)]).toEqual([0, '2 passed, 0 failed']);
  });

  test(
    'files that fail once pass, are named, on GitHub with a warning, and count as one passed each',
    slow,
    async () => {
      const files = ['flaky-one.test.ts', 'flaky-two.test.ts', 'passing.test.ts'];
      const more = { GITHUB_ACTIONS: 'true', TEST_MINUTES: '/dev/null' };
      const { exitCode, lines } = await runWith(more, ...files);
      const minutes = lines.filter((line) => line.startsWith('the rest '));
      expect(minutes).toEqual([minutes[0], minutes[0]]);
      expect({ exitCode, last: lines.slice(-3) }).toEqual({
        exitCode: 0,
        last: [
          minutes[0],
          'passed only on the second try: flaky-one.test.ts, flaky-two.test.ts',
          '4 passed, 0 failed',
        ],
      });
      expect(await readdir(attempts)).toHaveLength(6);
      expect(lines.filter((line) => line.startsWith('::'))).toEqual([
        '::warning file=flaky-one.test.ts::It passed only on the second try.',
        '::warning file=flaky-two.test.ts::It passed only on the second try.',
      ]);
    },
  );

  test('three such files fail the run', slow, async () => {
    const files = ['flaky-one.test.ts', 'flaky-two.test.ts', 'flaky-three.test.ts'];
    expect(await runFiles(...files, 'passing.test.ts')).toEqual({
      exitCode: 1,
      last: ['It stays failed: 3 files failed.', '2 passed, 3 failed'],
      attempts: 3,
    });
  });

  test('a test that always fails fails the run', async () => {
    expect(await runFiles('failing.test.ts', 'passing.test.ts')).toEqual({
      exitCode: 1,
      last: ['It stays failed: failing.test.ts failed again.', '2 passed, 1 failed'],
      attempts: 2,
    });
  });

  test('a file has to pass twice in a row', slow, async () => {
    expect(await runFiles('alternating.test.ts')).toEqual({
      exitCode: 1,
      last: ['It stays failed: alternating.test.ts failed again.', '0 passed, 1 failed'],
      attempts: 3,
    });
  });

  test('a suite of the list below gets no second try', slow, async () => {
    const file = 'apps/server/test/hostile/flaky.test.ts';
    expect(await runFiles('flaky-one.test.ts', file)).toEqual({
      exitCode: 1,
      last: [`It stays failed: a failure of ${file} may be a found bug.`, '0 passed, 2 failed'],
      attempts: 2,
    });
  });

  test('an error outside of the files gets no second try', slow, async () => {
    expect(await runFiles('outside.test.ts')).toEqual({
      exitCode: 1,
      last: ['It stays failed: something failed outside of the test files.', '1 passed, 1 failed'],
      attempts: 1,
    });
  });

  test(
    'a failure after the tests gets none, not even beside a file that fails once',
    slow,
    async () => {
      const { exitCode, lines } = await runWith({ TEAR_DOWN: 'fails' }, 'flaky-one.test.ts');
      expect({ exitCode, last: lines.slice(-2) }).toEqual({
        exitCode: 1,
        last: [
          'It stays failed: something failed outside of the test files.',
          '0 passed, 2 failed',
        ],
      });
    },
  );

  test('a run that ends without a report fails', slow, async () => {
    const words = [script, 'no-such-task'];
    const ended = await run(process.execPath, words, { cwd: planted, env: environment() });
    expect(ended.exitCode).toBe(1);
    expect(ended.stdout.trim().split('\n').at(-1)).toBe('0 passed, 1 failed');
  });
});

describe('the list of suites without a second try', () => {
  const TEST_FILES = '{{apps,packages}/*/{src,test},examples,benchmarks,tests}/**/*.test.ts';
  const exclude = ['**/node_modules/**', 'tests/support/**'];

  // What makes a suite one of races, histories, faults, hostile or random input.
  const KITS = [
    'fast-check',
    'packages/test-kit/src/races/',
    'packages/test-kit/src/seeded-random.ts',
    ...['check-mongodb', 'faults', 'history', 'hostile', 'proxies', 'two-servers'].map(
      (folder) => `apps/server/test/${folder}/`,
    ),
    'packages/store-suite/src/index.ts',
    'packages/store-mongodb/test/faults/',
  ];
  const TITLE =
    /^\s*(?:test|it|describe\w*)\b[^'`\n]*\n?[^'`\n]*['`][^'`\n]*(?:\brac(?:es?|ing)\b|concurren\w*|at the same time|(?:many|processes|versions|calls|exchanges) at once)/im;

  /** All that a file imports, directly or not. */
  async function imports(file: string, seen = new Set<string>()): Promise<Set<string>> {
    const text = await readFile(join(root, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/ from '([^']+)'/g)) {
      const kit = name
        .replace(/^(@latchkey\/store-suite)$/, '$1/index')
        .replace(/^@latchkey\/(test-kit|store-suite)\/(.*)$/, 'packages/$1/src/$2.ts')
        .replace(/^@latchkey\/(store-\w+\/test\/.*)$/, 'packages/$1.ts');
      const path = name.startsWith('.') ? relative(root, join(root, dirname(file), name)) : kit;
      if (seen.has(path)) continue;
      seen.add(path);
      const isOfTests = path.includes('/test/') || path.startsWith('packages/test-kit/');
      // What a file writes into another may import, too: such a path is not one from here.
      if (isOfTests && existsSync(join(root, path))) await imports(path, seen);
    }
    return seen;
  }

  /** Why a file must not have a second try; undefined if it may. */
  async function reason(file: string): Promise<string | undefined> {
    const used = [file, ...(await imports(file))];
    const kit = used.find((path) => KITS.some((each) => path.startsWith(each)));
    return kit ?? TITLE.exec(await readFile(join(root, file), 'utf8'))?.[0].trim();
  }

  test('has every file that has to be there, and nothing else', async () => {
    const missing: string[] = [];
    const files: string[] = [];
    for await (const file of glob(TEST_FILES, { cwd: root, exclude })) {
      files.push(file);
      const why = await reason(file);
      if (why !== undefined && maySecondTry(file)) missing.push(`${file}: ${why}`);
    }
    expect(missing).toEqual([]);
    const stale = NO_SECOND_TRY.filter((part) => !files.some((file) => file.includes(part)));
    expect(stale).toEqual([]);
  });

  test('a file that is missing in it is noticed', async () => {
    expect(await reason('apps/server/test/races.test.ts')).toContain('test-kit/src/races/');
    expect(await reason('apps/server/test/http/codes.test.ts')).toContain('concurrent');
    expect(await reason('apps/server/test/http/errors.test.ts')).toBeUndefined();
    // By the name that a package gives what is in the folder of its tests.
    const ofDoctor = await imports('apps/server/test/cli/doctor-command.test.ts');
    expect([...ofDoctor]).toContain('packages/store-mongodb/src/clocks.ts');
  });
});
