import { markdownTable } from '../../../packages/test-kit/src/markdown-table.ts';
import { ratioTarget, type Target } from '../benchmark.ts';
import { CONNECTIONS, operations } from '../measure.ts';
import type { Results } from '../results.ts';
import { storedOperations } from './operations.ts';

/** The names under which few and many grants on one store were measured. */
export interface Pair {
  store: string;
  few: string;
  many: string;
}

export function report(
  results: Results,
  pairs: readonly Pair[],
  [few, many]: readonly [number, number],
): string {
  const rows = [
    [
      'store',
      'operation',
      `p50 ms, ${few.toLocaleString('en')}`,
      `p50 ms, ${many.toLocaleString('en')}`,
      '×',
      'CPU s/1,000, few',
      'CPU s/1,000, many',
      '×',
    ],
  ];
  for (const { store, operation, few, many } of comparisons(results, pairs)) {
    rows.push([
      store,
      operation,
      few.p50.toFixed(2),
      many.p50.toFixed(2),
      (many.p50 / few.p50).toFixed(2),
      few.cpu.toFixed(3),
      many.cpu.toFixed(3),
      (many.cpu / few.cpu).toFixed(2),
    ]);
  }
  return markdownTable(rows);
}

function* comparisons(results: Results, pairs: readonly Pair[]) {
  for (const pair of pairs) {
    for (const operation of [...operations, ...storedOperations]) {
      const few = results.medians(pair.few, CONNECTIONS, operation);
      const many = results.medians(pair.many, CONNECTIONS, operation);
      if (few && many) yield { store: pair.store, operation, few, many };
    }
  }
}

export function sizeTargets(results: Results, pairs: readonly Pair[]): Target[] {
  return [...comparisons(results, pairs)].map(({ store, operation, few, many }) =>
    ratioTarget(
      `Latchkey on ${store}, ${operation}: p50 with many grants at most 1.2 × that with few`,
      many.p50 / few.p50,
      ['at most', 1.2],
    ),
  );
}
