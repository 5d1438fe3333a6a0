import { table } from '../../table.ts';
import { type Checked, checkRatio } from '../checked.ts';
import { CONNECTIONS, operations } from '../measure.ts';
import type { Results } from '../results.ts';
import type { StoreKind } from '../stores.ts';
import { greatestRise, leastShare } from './shares.ts';

const WAYS = ['alone', 'on two databases', 'on one database'] as const;
export type Way = (typeof WAYS)[number];

/** The names of the two. */
export const serversOn = (store: string) => [`first on ${store}`, `second on ${store}`] as const;
/** What the results of a server are kept under. */
export const key = (server: string, way: Way) => `${server}, ${way}`;

/** What the two took for an operation in one of the ways. */
interface Seen {
  store: string;
  operation: string;
  way: Way;
  /** CPU seconds for 1,000 requests, of each. */
  cpu: number[];
  /** The CPU of the server that it rose most for, in parts of what that one takes alone. */
  rise: number;
  /** Throughput of the slower in parts of that of the faster, in the round where it was least. */
  share: number;
  /** Milliseconds to the answer that took longest in all rounds. */
  slowest: number;
}

export function seenIn(results: Results, stores: readonly StoreKind[]): Seen[] {
  const seen: Seen[] = [];
  for (const { name: store } of stores) {
    const servers = serversOn(store);
    for (const operation of operations) {
      const cpuOf = (way: Way) =>
        servers.map(
          (server) => results.medians(key(server, way), CONNECTIONS, operation)?.cpu ?? Number.NaN,
        );
      for (const way of WAYS) {
        const samples = servers.map((server) =>
          results.samples(key(server, way), CONNECTIONS, operation),
        );
        const throughputs = samples.map((rounds) => rounds.map(({ throughput }) => throughput));
        seen.push({
          ...{ store, operation, way },
          cpu: cpuOf(way),
          rise: greatestRise(cpuOf('alone'), cpuOf(way)),
          share: leastShare(throughputs),
          slowest: Math.max(...samples.flat().map(({ slowest }) => slowest)),
        });
      }
    }
  }
  return seen;
}

export function report(seen: readonly Seen[]): string {
  return table([
    [
      'store',
      'operation',
      'two processes',
      'CPU s/1,000, first',
      'second',
      '× alone',
      'slower ÷ faster',
      'slowest ms',
    ],
    ...seen.map(({ store, operation, way, cpu, rise, share, slowest }) => [
      store,
      operation,
      way,
      ...cpu.map((seconds) => seconds.toFixed(3)),
      way === 'alone' ? '' : rise.toFixed(2),
      way === 'alone' ? '' : share.toFixed(2),
      slowest.toFixed(0),
    ]),
  ]);
}

export function checkTargets(seen: readonly Seen[]): Checked[] {
  return seen
    .filter(({ way }) => way === 'on one database')
    .flatMap(({ store, operation, rise, share }) => {
      const what = `Two processes on ${store}, ${operation}`;
      return [
        checkRatio(`${what}: CPU per request at most 1.1 × alone`, rise, ['at most', 1.1]),
        checkRatio(`${what}: throughput of the slower at least 0.5 × the faster`, share, [
          'at least',
          0.5,
        ]),
      ];
    });
}
