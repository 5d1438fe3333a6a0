import { table } from '../../markdown.ts';
import { floor } from '../contenders/floor.ts';
import { operations } from '../measure.ts';
import { type Results, spread } from '../results.ts';

/** The figures at one number of connections. */
function loadTable(results: Results, connections: number): string {
  const rows = [
    [
      'server',
      'operation',
      'requests/s',
      '± %',
      '× floor',
      'CPU s/1,000',
      '× floor',
      'p50 ms',
      'p99 ms',
    ],
  ];
  for (const operation of operations) {
    const base = results.medians(floor.name, connections, operation);
    for (const { name } of results.footprints) {
      const medians = results.medians(name, connections, operation);
      if (!medians) continue;
      const throughputs = results
        .samples(name, connections, operation)
        .map(({ throughput }) => throughput);
      rows.push([
        name,
        operation,
        medians.throughput.toFixed(0),
        ((spread(throughputs) / 2) * 100).toFixed(0),
        base ? (medians.throughput / base.throughput).toFixed(2) : '',
        medians.cpu.toFixed(3),
        base ? (medians.cpu / base.cpu).toFixed(2) : '',
        medians.p50.toFixed(2),
        medians.p99.toFixed(2),
      ]);
    }
  }
  return table(rows);
}

/** All tables, in Markdown. */
export function report(results: Results, connectionCounts: readonly number[]): string {
  const loads = connectionCounts.map(
    (count) =>
      `## ${count} ${count === 1 ? 'connection' : 'connections'}\n\n${loadTable(results, count)}`,
  );
  const footprints = table([
    ['server', 'start ms', 'peak memory MiB'],
    ...results.footprints.map(({ name, startMilliseconds, peakMemory }) => [
      name,
      startMilliseconds.toFixed(0),
      peakMemory.toFixed(0),
    ]),
  ]);
  return [...loads, `## Start and memory\n\n${footprints}`].join('\n\n');
}
