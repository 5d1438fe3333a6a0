import { expect, test } from 'vitest';
import { Figures } from './figures.ts';
import { BACKUP, BESIDE_DELETION } from './operations.ts';
import { report, type StoreFigures, targetsOf } from './report.ts';

/** Two rounds. In the first one, four of 100 responses take 50 times as long. */
function figures(milliseconds: number, beside: number): Figures {
  const figures = new Figures();
  const latencies = (slow: number) =>
    Float64Array.from({ length: 100 }, (_, index) => (index < slow ? 50 : 1) * milliseconds);
  for (const operation of ['convert', 'authenticate', 'revoke']) {
    figures.add(operation, latencies(4), 0.03 * milliseconds);
    figures.add(operation, latencies(0), 0.05 * milliseconds);
  }
  figures.add(BESIDE_DELETION, [beside], 1);
  figures.add(BACKUP, [1_000 * milliseconds]);
  return figures;
}
const stores = (many: number, beside: number): StoreFigures => ({
  store: 'SQLite',
  counts: [20_000, 2_000_000],
  figures: [figures(2, 2), figures(many, beside)],
});

test('an operation has the figures of all its rounds, with few and with many grants', () => {
  const lines = report([stores(3, 3)]).split('\n');
  const cellsOf = (operation: string) =>
    lines.find((line) => line.startsWith(`| ${operation} `))?.split(/ *\| */);
  expect(lines[0]).toBe('### SQLite');
  expect(cellsOf('operation')?.slice(2, 7)).toEqual([
    ...['p50 ms, 20,000', 'p50 ms, 2,000,000', 'ratio', 'p99 ms, 20,000', 'p99 ms, 2,000,000'],
  ]);
  expect(cellsOf('convert')?.slice(2, 8)).toEqual([
    ...['2.00', '3.00', '1.50 ×', '100', '150', '1.50 ×'],
  ]);
  // Its CPU time is not known.
  expect(cellsOf(BACKUP)?.slice(2, 8)).toEqual(['2,000', '3,000', '1.50 ×', '2,000', '3,000', '']);
  // What was not measured has no row.
  expect(cellsOf('summary')).toBeUndefined();
});

test('growth is held against the same with few grants, and a deletion against what is beside it', () => {
  const metOf = (many: number, beside: number) =>
    targetsOf(stores(many, beside))
      .filter(({ text }) => /, convert|beside/.test(text))
      .map(({ isMet, measured }) => [measured, isMet]);
  expect(metOf(2.4, 4.8)).toEqual([
    ['1.20 ×', true],
    ['2.00 ×', true],
  ]);
  expect(metOf(2.5, 5.1)).toEqual([
    ['1.25 ×', false],
    ['2.04 ×', false],
  ]);
  // A backup has more to do with more grants.
  expect(targetsOf(stores(9, 9)).some(({ text }) => text.includes(BACKUP))).toBe(false);
});
