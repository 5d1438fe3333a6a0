import { globSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';
// For the member of a test's meta data.
import type {} from '../packages/test-kit/src/long.ts';

const SLOW_FILES = '{apps/*/{src,test}/**,packages/*/src/**,tests,benchmarks/**}/*.slow.test.ts';

/**
 * Ends the run with a line for readers of the last line alone. It says how many tests passed, failed
 * and were skipped, and names the suites that were skipped because a tool or a database is missing.
 * The line before it says what `npm test` leaves out.
 */
export default class ClosingLine implements Reporter {
  #filesLeftOut = 0;
  #runsByName = false;

  onInit({ config }: Vitest): void {
    this.#runsByName = config.testNamePattern !== undefined;
    // `npm test` excludes them by name.
    if (!config.cliExclude?.some((pattern) => pattern.includes('.slow.'))) return;
    const options = { cwd: config.root, exclude: ['**/node_modules/**'] };
    this.#filesLeftOut = globSync(SLOW_FILES, options).length;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    // A file that fails before its tests, and an error outside of any, count as one each.
    const broken = modules.filter(
      (module) => module.state() === 'failed' && module.errors().length,
    );
    const failed = count('failed') + broken.length + errors.length;
    const notRun = tests.filter((test) => test.result().state === 'skipped');
    const skipped = notRun.filter((test) => !test.meta().leftOut);
    const lines = leftOutLine(this.#filesLeftOut, notRun.length - skipped.length);
    // Tests chosen by name, with `-t`, skip all others, which nobody misses.
    const missed = this.#runsByName ? [] : [...new Set(skipped.map(suiteName))];
    const names = missed.length === 0 ? '' : `: ${missed.join(', ')}`;
    // At the exit every other reporter has written its part, and it is known whether something other
    // than a test has failed, such as the global set-up.
    process.once('exit', (exitCode) => {
      const failures = failed === 0 && exitCode !== 0 ? 1 : failed;
      const line = `${count('passed')} passed, ${failures} failed`;
      const last = skipped.length === 0 ? line : `${line}, ${skipped.length} skipped${names}`;
      process.stdout.write(`\n${[...lines, last].join('\n')}\n`);
    });
  }
}

function leftOutLine(files: number, tests: number): string[] {
  const parts = [
    ...(files === 0 ? [] : [`${files} slow test ${files === 1 ? 'file' : 'files'}`]),
    ...(tests === 0 ? [] : [`${tests} slow ${tests === 1 ? 'test' : 'tests'}`]),
  ];
  return parts.length === 0 ? [] : [`left out: ${parts.join(' and ')} (run: npm run test:all)`];
}

function suiteName(test: TestCase): string {
  return test.parent.type === 'suite' ? test.parent.fullName : test.module.relativeModuleId;
}
