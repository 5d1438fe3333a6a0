import { describe, expect, test } from 'vitest';
import { check } from './checker.ts';
import { reportViolations } from './report.ts';
import { runLoad } from './run.ts';

// For `npm run check:mongodb`, which makes the database fail over meanwhile.
const databaseUrl = process.env.CHECK_MONGODB_URL;

const title = `two servers on a given MongoDB${databaseUrl ? '' : ' (not run: CHECK_MONGODB_URL is not set)'}`;

describe.skipIf(!databaseUrl)(title, () => {
  test('keep what they promise', { timeout: 900_000 }, async () => {
    const seed = Math.floor(Math.random() * 1e9);
    const load = { seed, databaseUrl: databaseUrl ?? '', codes: 80, faults: 4 };
    const result = await runLoad(load);
    const violations = check(result.history);
    if (violations.length === 0) return;
    expect.fail(await reportViolations(violations, result, 'npm run check:mongodb -- URL'));
  });
});
