import { markdownTable } from '../../../packages/test-kit/src/markdown-table.ts';
import type { Ratio } from '../against/ratio.ts';

export interface StoreFigures {
  store: string;
  /** CPU time with events, to that without. */
  cost: Record<'convert' | 'revoke', Ratio>;
  /** Seconds until the ends of one call were told. */
  endsToldIn: number;
  backlog: {
    /** Messages, while the process does nothing else, by how long the receiver takes. */
    perSecond: readonly number[];
    /** Messages, while it converts as much as it can. */
    besidePerSecond: number;
    /** Of convert beside the backlog, to that without one. */
    throughput: number;
  };
}

const ratio = ({ ratio, low, high }: Ratio) =>
  `${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`;

export function table(stores: readonly StoreFigures[]): string {
  return markdownTable([
    [
      'store',
      'CPU of convert with events',
      'CPU of revoke with events',
      'ends of one call told in',
      'messages a second, receiver of 5, 50, 500 ms',
      'beside conversions',
      'throughput of these',
    ],
    ...stores.map(({ store, cost, endsToldIn, backlog }) => [
      store,
      ratio(cost.convert),
      ratio(cost.revoke),
      `${endsToldIn.toFixed(1)} s`,
      backlog.perSecond.map(Math.round).join(', '),
      String(Math.round(backlog.besidePerSecond)),
      `${backlog.throughput.toFixed(2)} ×`,
    ]),
  ]);
}
