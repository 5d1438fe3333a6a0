import { markdownTable } from '../../../packages/test-kit/src/markdown-table.ts';
import type { Ratio } from '../against/ratio.ts';

export interface StoreFigures {
  store: string;
  /** CPU time with events, to that without. */
  cost: Record<'convert' | 'revoke', Ratio>;
  backlog: {
    /** Messages, while the process does nothing else. */
    perSecond: number;
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
      'messages a second',
      'beside conversions',
      'throughput of these',
    ],
    ...stores.map(({ store, cost, backlog }) => [
      store,
      ratio(cost.convert),
      ratio(cost.revoke),
      String(Math.round(backlog.perSecond)),
      String(Math.round(backlog.besidePerSecond)),
      `${backlog.throughput.toFixed(2)} ×`,
    ]),
  ]);
}
