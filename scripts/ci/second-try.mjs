#!/usr/bin/env node
// Runs the tests in CI: `second-try.mjs TASK [arguments]` runs `npm run TASK`. If one or two test
// files fail, it runs each of them alone, and the run passes if each passes twice in a row. Such a
// file is named at the end and counts as one passed. On GitHub it gets a warning: the files of the whole
// run may have clashed, which a file that runs alone does not show. For a person, `npm run TASK` tries
// once.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { maySecondTry } from './no-second-try.mjs';

const MAX_FILES = 2;

const [task, ...args] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'latchkey-second-try-'));
const TEST_REPORT = join(folder, 'report.json');

/** @returns {boolean} whether it succeeded */
function runTask(words, env) {
  const { status, error } = spawnSync('npm', ['run', task, '--', ...words], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (error) throw error;
  return status === 0;
}

/** Why the run stays failed; undefined if each file has passed twice. */
function tryAgain({ failedFiles, failedOutside }) {
  if (failedOutside) return 'something failed outside of the test files';
  if (failedFiles.length === 0) return 'no file has failed, and the run has';
  if (failedFiles.length > MAX_FILES) return `${failedFiles.length} files failed`;
  const final = failedFiles.find((file) => !maySecondTry(file));
  if (final !== undefined) return `a failure of ${final} may be a found bug`;
  for (const file of failedFiles) {
    process.stdout.write(`\n${file} has failed. It is run alone, until it has passed twice.\n`);
    // Its whole path: a part of it could be the name of another file too.
    const passes = () => runTask([resolve(file)], { TEST_MINUTES: '' });
    if (!passes() || !passes()) return `${file} failed again`;
  }
}

function end(exitCode, ...lines) {
  process.stdout.write(`\n${lines.join('\n')}\n`);
  process.exitCode = exitCode;
}

try {
  if (!runTask(args, { TEST_REPORT })) {
    if (!existsSync(TEST_REPORT)) {
      end(1, `npm run ${task} ended without a report.`, '0 passed, 1 failed');
    } else {
      const report = JSON.parse(readFileSync(TEST_REPORT, 'utf8'));
      const reason = tryAgain(report);
      if (reason !== undefined) {
        end(1, ...report.minutes, `It stays failed: ${reason}.`, report.line);
      } else {
        const { failedFiles, others } = report;
        if (process.env.GITHUB_ACTIONS === 'true') {
          for (const file of failedFiles) {
            process.stdout.write(`::warning file=${file}::It passed only on the second try.\n`);
          }
        }
        const line = `${others.passed + failedFiles.length} passed, 0 failed${others.skipped}`;
        end(0, ...report.minutes, `passed only on the second try: ${failedFiles.join(', ')}`, line);
      }
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
