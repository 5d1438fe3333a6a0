import type { Reporter, TestCase, TestModule } from 'vitest/node';

/**
 * Ends the run with a line that says how many tests passed, failed and were skipped, for whoever
 * reads only the last line. Suites that are skipped for want of a database are named before it.
 */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    // A file that fails before its tests, and an error outside of any, count as one each.
    const broken = modules.filter(
      (module) => module.state() === 'failed' && module.errors().length,
    );
    const failed = count('failed') + broken.length + errors.length;
    const skipped = tests.filter((test) => test.result().state === 'skipped');
    const notRun = new Set(skipped.map((test) => `not run: ${suiteName(test)}`));
    // After everything that the other reporters write. By then it is known too whether something
    // failed that is no test, such as the set-up of them all.
    process.once('exit', (exitCode) => {
      const failures = failed === 0 && exitCode !== 0 ? 1 : failed;
      const line = `${count('passed')} passed, ${failures} failed`;
      const lines = [...notRun, skipped.length === 0 ? line : `${line}, ${skipped.length} skipped`];
      process.stdout.write(`\n${lines.join('\n')}\n`);
    });
  }
}

function suiteName(test: TestCase): string {
  return test.parent.type === 'suite' ? test.parent.fullName : test.module.relativeModuleId;
}
