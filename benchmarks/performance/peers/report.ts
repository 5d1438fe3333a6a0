import { markdownTable } from '../../../packages/test-kit/src/markdown-table.ts';
import { barCharts } from '../bar-charts.ts';
import { ratioTarget, type Target } from '../benchmark.ts';
import { CONNECTIONS } from '../measure.ts';
import { type Results, type Sample, spread } from '../results.ts';
import { type Contestant, contestants, fullName } from './contestants.ts';

/** The CPU of a request, of the server and of its database together. */
const allCpu = ({ cpu, databaseCpu = 0 }: Sample): number => cpu + databaseCpu;

const sampleOf = (results: Results, contestant: Contestant, connections: number) =>
  results.medians(fullName(contestant), connections, 'convert');

/** The Latchkey that a server is compared with: that on the same database. */
function latchkeyBeside(
  results: Results,
  { store }: Contestant,
  connections: number,
): Sample | null {
  return results.medians(fullName({ name: 'Latchkey', store }), connections, 'convert');
}

function loadTable(results: Results, connections: number): string {
  const header = [
    ...['server', 'store', 'requests/s', '± %', 'Latchkey has', 'CPU s/1,000', 'of its database'],
    ...['Latchkey takes', 'p50 ms', 'p99 ms'],
  ];
  const rows = contestants.flatMap((contestant) => {
    const medians = sampleOf(results, contestant, connections);
    const ours = latchkeyBeside(results, contestant, connections);
    if (!medians) return [];
    const throughputs = results
      .samples(fullName(contestant), connections, 'convert')
      .map(({ throughput }) => throughput);
    const { name, store } = contestant;
    const isOurs = name === 'Latchkey';
    const written = (value: number) => {
      if (value < 0.1) return value.toFixed(3);
      return value < 1_000 ? value.toPrecision(3) : `${Number(value.toPrecision(3))}`;
    };
    const ratio = (value: number) => (isOurs || !ours ? '' : `${written(value)} ×`);
    return [
      [
        ...[name, store, medians.throughput.toFixed(medians.throughput < 100 ? 1 : 0)],
        ((spread(throughputs) / 2) * 100).toFixed(0),
        ratio(ours ? ours.throughput / medians.throughput : 0),
        medians.cpu.toFixed(3),
        store === 'SQLite' ? '–' : (medians.databaseCpu ?? 0).toFixed(3),
        ratio(ours ? allCpu(ours) / allCpu(medians) : 0),
        medians.p50.toFixed(2),
        medians.p99.toFixed(2),
      ],
    ];
  });
  return markdownTable([header, ...rows]);
}

/** A table for each load. */
export function report(results: Results, connectionCounts: readonly number[]): string {
  const title = (count: number) => `## ${count} ${count === 1 ? 'connection' : 'connections'}`;
  return connectionCounts
    .map((count) => `${title(count)}\n\n${loadTable(results, count)}`)
    .join('\n\n');
}

export function targets(results: Results): Target[] {
  return contestants.flatMap((contestant) => {
    if (contestant.name === 'Latchkey') return [];
    const compare = (
      what: string,
      connections: number,
      figure: (sample: Sample) => number,
      bound: ['at least' | 'at most', number],
    ): Target[] => {
      const [ours, theirs] = [
        latchkeyBeside(results, contestant, connections),
        sampleOf(results, contestant, connections),
      ];
      if (!ours || !theirs) return [];
      const load = connections === 1 ? 'one connection' : `${connections} connections`;
      const text = `Latchkey on ${contestant.store}, ${load}: ${what} ${bound[0]} ${bound[1].toFixed(2)} × ${fullName(contestant)}`;
      return [ratioTarget(text, figure(ours) / figure(theirs), bound)];
    };
    const throughput = (sample: Sample) => sample.throughput;
    return [
      ...compare('throughput', CONNECTIONS, throughput, ['at least', 3]),
      ...compare('CPU', CONNECTIONS, allCpu, ['at most', 1 / 3]),
      ...compare('throughput', 1, throughput, ['at least', 1.5]),
    ];
  });
}

/** The servers of [The comparison](../../../docs/comparison.md), each on the store that it is mostly used with. */
const DRAWN = [
  'Latchkey, SQLite',
  'Latchkey, MongoDB',
  'oidc-provider, MongoDB',
  'better-auth, MongoDB',
  'Latchkey, PostgreSQL',
  'Keycloak, PostgreSQL',
];

/** Two charts, of the requests a second and of their CPU. */
export function plot(results: Results): string {
  const barsOf = (figure: (sample: Sample) => number) =>
    DRAWN.flatMap((name): [string, number][] => {
      const medians = results.medians(name, CONNECTIONS, 'convert');
      return medians ? [[name, figure(medians)]] : [];
    });
  const load = `${CONNECTIONS} connections`;
  return barCharts(
    'A code is exchanged for a token',
    [
      {
        title: `Codes exchanged a second, ${load} (more is better)`,
        bars: barsOf(({ throughput }) => throughput),
      },
      {
        title: `CPU for each, server and database, in milliseconds (less is better)`,
        bars: barsOf(allCpu),
      },
    ],
    (value) => (value < 10 ? value.toFixed(2) : value.toFixed(0)),
  );
}
