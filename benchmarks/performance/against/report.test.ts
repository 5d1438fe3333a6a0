import { expect, test } from 'vitest';
import type { Sample } from '../results.ts';
import { operations, type Pair, type Round } from './pair.ts';
import { report } from './report.ts';

const sample = (cpu: number): Sample => ({ cpu, throughput: 1000 / cpu, p50: 1, p99: 1 });

/** Pairs of one round in which this tree takes so much more CPU for a conversion, and as much for the rest. */
function pairsWith(ratios: readonly number[]): Round[][] {
  return ratios.map((ratio) => {
    const same: Pair<Sample> = [sample(1), sample(1)];
    const round = Object.fromEntries(operations.map((operation) => [operation, same]));
    return [{ ...(round as Round), convert: [sample(1), sample(ratio)] }];
  });
}

const lastLine = (text: string) => text.trimEnd().split('\n').at(-1);

test('a report has the ratio of this tree to the other, with its interval, for each operation', () => {
  const { text } = report([{ store: 'SQLite', pairs: pairsWith([1.1, 1.1, 1.1]) }]);
  expect(text).toContain(
    '| SQLite | convert      | 1.100 | 1.100 to 1.100 | 0.909      | 0.909 to 0.909 |',
  );
  for (const operation of operations) expect(text).toContain(`| ${operation} `);
});

test.each([
  ['3 % more', [1.03, 1.03, 1.03], true],
  ['a little less than 3 % more', [1.029, 1.029, 1.029], false],
  ['10 % more, with an interval that begins below 1.03', [1, 1.1, 1.2], false],
  ['less', [0.5, 0.5, 0.5], false],
])('%s CPU', (_, ratios, isSlower) => {
  const measured = report([
    { store: 'SQLite', pairs: pairsWith([1, 1, 1]) },
    { store: 'MongoDB', pairs: pairsWith(ratios) },
  ]);
  expect(measured.isSlower).toBe(isSlower);
  expect(lastLine(measured.text)).toBe(
    isSlower
      ? 'Slower by more than 3 %: convert on MongoDB.'
      : 'No operation is slower by more than 3 %.',
  );
});

test('a report says how wide its widest interval is', () => {
  const { text } = report([{ store: 'SQLite', pairs: pairsWith([0.9, 1, 1.1]) }]);
  expect(text).toContain('The widest interval of CPU is ± 28.3 %.');
});

test('the rounds of one pair count as one', () => {
  const rounds = pairsWith([0.9, 1, 1.1, 1.2]).flat();
  const { text } = report([{ store: 'SQLite', pairs: [rounds, rounds, rounds] }]);
  const ratio = (0.9 * 1.1 * 1.2) ** (1 / 4);
  expect(text).toContain(
    `| convert      | ${ratio.toFixed(3)} | ${ratio.toFixed(3)} to ${ratio.toFixed(3)} |`,
  );
});
