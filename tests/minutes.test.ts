import { expect, test } from 'vitest';
import { BUDGETS, minutesOfParts } from '../scripts/ci/minutes.ts';

const EARLIER = 'check 60.00 90.00 30.00\nrehearsal 30.00 5.50 0.50\n';

test('each part has the share of the clock that its files have of the work', () => {
  const files = [
    { path: 'packages/store-sqlite/test/sqlite-store.test.ts', seconds: 60 },
    { path: 'apps/server/test/faults/sqlite-disk.test.ts', seconds: 30 },
    { path: 'apps/server/test/browser/demo.test.ts', seconds: 30 },
    { path: 'tests/sdk.test.ts', seconds: 60 },
  ];
  expect(minutesOfParts(EARLIER, files, 120)).toEqual([
    `check       1.0 of ${BUDGETS.check} minutes,   2.0 of the CPU`,
    `rehearsal   0.5 of ${BUDGETS.rehearsal} minutes,   0.1 of the CPU`,
    `stores      1.0 of ${BUDGETS.stores} minutes`,
    `browsers    0.3 of ${BUDGETS.browsers} minutes`,
    `the rest    0.7 of ${BUDGETS['the rest']} minutes`,
  ]);
});

test('the parts that are over their budget are named', () => {
  const files = [
    { path: 'packages/store/src/kinds.test.ts', seconds: 9 },
    { path: 'tests/sdk.test.ts', seconds: 1 },
  ];
  const last = minutesOfParts(EARLIER, files, 70 * BUDGETS.stores).at(-1);
  expect(last).toMatch(/^OVER BUDGET: stores\. /);
});
