import { markdownTable } from '../../../packages/test-kit/src/markdown-table.ts';
import { operations, type Round } from './pair.ts';
import { type Ratio, ratioOver } from './ratio.ts';

/** The rounds of each pair of servers on one store. */
export interface StorePairs {
  store: string;
  pairs: readonly (readonly Round[])[];
}

/** An operation is slower if even the lower end of its interval of CPU is not below this. */
const LIMIT = 1.03;

/** The tables in Markdown, and a last line that says whether an operation is slower. */
export function report(stores: readonly StorePairs[]): { text: string; isSlower: boolean } {
  const figures = stores.flatMap(({ store, pairs }) =>
    operations.map((operation) => {
      const over = (figure: 'cpu' | 'throughput') =>
        pairs.map((rounds) => {
          const meanOf = (which: 0 | 1) =>
            geometricMean(rounds.map((round) => round[operation][which][figure]));
          return [meanOf(0), meanOf(1)] as const;
        });
      return {
        store,
        operation,
        cpu: ratioOver(over('cpu')),
        throughput: ratioOver(over('throughput')),
      };
    }),
  );
  const table = markdownTable([
    ['store', 'operation', 'CPU', '95 % interval', 'throughput', '95 % interval'],
    ...figures.map(({ store, operation, cpu, throughput }) => [
      ...[store, operation, ...cells(cpu), ...cells(throughput)],
    ]),
  ]);
  const slower = figures.filter(({ cpu }) => cpu.low >= LIMIT);
  const widest = Math.max(...figures.map(({ cpu: { low, high } }) => Math.sqrt(high / low) - 1));
  const names = slower.map(({ store, operation }) => `${operation} on ${store}`);
  const percent = Math.round((LIMIT - 1) * 100);
  const verdict =
    slower.length === 0
      ? `No operation is slower by more than ${percent} %.`
      : `Slower by more than ${percent} %: ${names.join(', ')}.`;
  const text = `${table}

The widest interval of CPU is ± ${(widest * 100).toFixed(1)} %. A difference that is smaller can go unseen.

${verdict}
`;
  return { text, isSlower: slower.length > 0 };
}

const geometricMean = (values: readonly number[]) =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

const cells = ({ ratio, low, high }: Ratio) => [
  ratio.toFixed(3),
  `${low.toFixed(3)} to ${high.toFixed(3)}`,
];
