import { table } from '../../table.ts';
import { floor } from '../contenders/floor.ts';
import { operations } from '../measure.ts';
import type { Results } from '../results.ts';
import { spread } from '../statistics.ts';

/** What was measured with so many connections. */
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
    const bare = results.medians(floor.name, connections, operation);
    for (const { name } of results.footprints) {
      const seen = results.medians(name, connections, operation);
      if (!seen) continue;
      const throughputs = results
        .samples(name, connections, operation)
        .map(({ throughput }) => throughput);
      rows.push([
        name,
        operation,
        seen.throughput.toFixed(0),
        ((spread(throughputs) / 2) * 100).toFixed(0),
        bare ? (seen.throughput / bare.throughput).toFixed(2) : '',
        seen.cpu.toFixed(3),
        bare ? (seen.cpu / bare.cpu).toFixed(2) : '',
        seen.p50.toFixed(2),
        seen.p99.toFixed(2),
      ]);
    }
  }
  return table(rows);
}

/** All tables of a comparison, in Markdown. */
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
