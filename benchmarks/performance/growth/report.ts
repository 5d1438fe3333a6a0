import { markdownTable } from '../../../packages/test-kit/src/markdown-table.ts';
import { ratioTarget, type Target } from '../benchmark.ts';
import type { Figures } from './figures.ts';
import { AUTHENTICATE, BACKUP, BESIDE_DELETION, LARGE_DELETION, operations } from './operations.ts';

/** What was measured on one store, with few and with many grants. */
export interface StoreFigures {
  store: string;
  counts: readonly [few: number, many: number];
  figures: readonly [few: Figures, many: Figures];
}

const count = (grants: number) => grants.toLocaleString('en');
const milliseconds = (value: number) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2);
const ratioOf = (few: number, many: number) =>
  Number.isFinite(many / few) ? `${(many / few).toFixed(2)} ×` : '';

function tableOf({ counts: [few, many], figures }: StoreFigures): string {
  const header = [
    ...['operation', `p50 ms, ${count(few)}`, `p50 ms, ${count(many)}`, 'ratio'],
    ...[`p99 ms, ${count(few)}`, `p99 ms, ${count(many)}`, 'ratio of CPU'],
  ];
  const rows = operations.flatMap((operation) => {
    const [few, many] = figures.map((of) => of.of(operation));
    if (few === undefined || many === undefined) return [];
    return [
      [
        ...[operation, milliseconds(few.p50), milliseconds(many.p50), ratioOf(few.p50, many.p50)],
        ...[milliseconds(few.p99), milliseconds(many.p99), ratioOf(few.cpu, many.cpu)],
      ],
    ];
  });
  return markdownTable([header, ...rows]);
}

export const report = (stores: readonly StoreFigures[]): string =>
  stores.map((of) => `### ${of.store}\n\n${tableOf(of)}`).join('\n\n');

/** These take longer with more grants: what they work on is a part of all. */
const GROWING = [BESIDE_DELETION, LARGE_DELETION, BACKUP];

export function targetsOf({ store, counts: [, most], figures }: StoreFigures): Target[] {
  const [few, many] = figures;
  const p50 = (of: Figures, operation: string) => of.of(operation)?.p50 ?? Number.NaN;
  return [
    ...operations
      .filter((operation) => !GROWING.includes(operation))
      .map((operation) =>
        ratioTarget(
          `${store}, ${operation}: p50 with many grants at most 1.2 × that with few`,
          p50(many, operation) / p50(few, operation),
          ['at most', 1.2],
        ),
      ),
    ratioTarget(
      `${store}, ${count(most)} grants: p50 of ${BESIDE_DELETION} at most 2 × that alone`,
      p50(many, BESIDE_DELETION) / p50(many, AUTHENTICATE),
      ['at most', 2],
    ),
  ];
}
