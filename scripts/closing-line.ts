import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';
// For the member of a test's meta data.
import type {} from '../packages/test-kit/src/long.ts';
import { minutesOfParts } from './ci/minutes.ts';

/** What `scripts/ci/second-try.mjs` reads: it names the file in `TEST_REPORT`. */
interface Report {
  /** The last line of the run. */
  line: string;
  /** The files in which something failed, from the folder in which the run was started. */
  failedFiles: string[];
  /** Whether something failed outside of the files, such as the global set-up. */
  failedOutside: boolean;
  /** What the other files add to the last line. */
  others: { passed: number; skipped: string };
  /** What the parts of `.ci/run` took, a line each; empty in any other run. */
  minutes: string[];
}

/**
 * Ends the run with a line for readers of the last line alone. It says how many tests passed, failed
 * and were skipped, and names the suites that were skipped because a tool or a database is missing.
 * The line before it says what `npm test` leaves out. If `.ci/run` names a file in `TEST_MINUTES`, the lines
 * before say what each of its parts took.
 */
export default class ClosingLine implements Reporter {
  #filesLeftOut = 0;
  #runsByName = false;

  onInit({ config, projects }: Vitest): void {
    this.#runsByName = config.testNamePattern !== undefined;
    // `npm test` excludes them by name.
    if (!config.cliExclude?.some((pattern) => pattern.includes('.slow.'))) return;
    const exclude = (path: string) => /(^|\/)(node_modules|dist)$/.test(path);
    const files = projects.flatMap(({ config: { include, root } }) =>
      globSync(include, { cwd: root, exclude }),
    );
    this.#filesLeftOut = files.filter((file) => file.endsWith('.slow.test.ts')).length;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    // A file that fails before its tests, and an error outside of any, count as one each.
    const broken = modules.filter(
      (module) => module.state() === 'failed' && module.errors().length,
    );
    const failed = count(modules, 'failed') + broken.length + errors.length;
    const leftOut = testsOf(modules, 'skipped').filter((test) => test.meta().leftOut).length;
    const lines = leftOutLine(this.#filesLeftOut, leftOut);
    const failedModules = modules.filter((module) => module.state() === 'failed');
    const others = modules.filter((module) => !failedModules.includes(module));
    // What fails after this, such as the global tear-down, sets the exit code again.
    const codeOfTests = process.exitCode;
    process.exitCode = undefined;
    // At the exit every other reporter has written its part, and it is known whether something other
    // than a test has failed.
    process.once('exit', (laterCode) => {
      process.exitCode = laterCode || codeOfTests;
      const hasOther = laterCode !== 0 || (failed === 0 && process.exitCode !== undefined);
      const failures = failed + (hasOther ? 1 : 0);
      const passed = count(modules, 'passed');
      const line = `${passed} passed, ${failures} failed${this.#skipped(modules)}`;
      const report: Report = {
        line,
        failedFiles: failedModules.map(pathOf),
        failedOutside: errors.length > 0 || hasOther,
        others: { passed: count(others, 'passed'), skipped: this.#skipped(others) },
        minutes: minutesOfRun(modules),
      };
      const { TEST_REPORT } = process.env;
      if (TEST_REPORT !== undefined) writeFileSync(TEST_REPORT, JSON.stringify(report));
      process.stdout.write(`\n${[...report.minutes, ...lines, line].join('\n')}\n`);
    });
  }

  /** The end of the line: how many tests were skipped, and in which suites. */
  #skipped(modules: readonly TestModule[]): string {
    const skipped = testsOf(modules, 'skipped').filter((test) => !test.meta().leftOut);
    if (skipped.length === 0) return '';
    // Tests chosen by name, with `-t`, skip all others, which nobody misses.
    const missed = this.#runsByName ? [] : [...new Set(skipped.map(suiteName))];
    const names = missed.length === 0 ? '' : `: ${missed.join(', ')}`;
    return `, ${skipped.length} skipped${names}`;
  }
}

const pathOf = ({ moduleId }: TestModule) => relative(process.cwd(), moduleId);

/** @param modules - of a run that is over */
function minutesOfRun(modules: readonly TestModule[]): string[] {
  const { TEST_MINUTES } = process.env;
  if (!TEST_MINUTES) return [];
  const files = modules.map((module) => ({
    path: pathOf(module),
    seconds: module.diagnostic().duration / 1000,
  }));
  return minutesOfParts(readFileSync(TEST_MINUTES, 'utf8'), files, process.uptime());
}

function testsOf(modules: readonly TestModule[], state: string): TestCase[] {
  return modules
    .flatMap((module) => [...module.children.allTests()])
    .filter((test) => test.result().state === state);
}

function count(modules: readonly TestModule[], state: string): number {
  return testsOf(modules, state).length;
}

function leftOutLine(files: number, tests: number): string[] {
  const parts = [
    ...(files === 0 ? [] : [`${files} slow test ${files === 1 ? 'file' : 'files'}`]),
    ...(tests === 0 ? [] : [`${tests} slow ${tests === 1 ? 'test' : 'tests'}`]),
  ];
  return parts.length === 0 ? [] : [`left out: ${parts.join(' and ')} (run: npm run test:all)`];
}

/** What the line calls a skipped test: its suite, with the reason that one of them has. */
function suiteName(test: TestCase): string {
  const name = test.parent.type === 'suite' ? test.parent.fullName : test.module.relativeModuleId;
  const result = test.result();
  const note = result.state === 'skipped' ? result.note : undefined;
  const reason = note ? `(not run: ${note})` : /\(not run: .*\)/.exec(test.name)?.[0];
  return reason === undefined ? name : `${name} ${reason}`;
}
