import { markdownTable } from '../../../packages/test-kit/src/markdown-table.ts';
import { operations } from '../measure.ts';
import { type Results, spread } from '../results.ts';

/** Servers that were measured in one interleaved run. */
export interface Group {
  title: string;
  /** The name of the server that the others are compared with. */
  base: string;
  results: Results;
}

/** The figures at one number of connections. */
function loadTable({ base: baseName, results }: Group, connections: number): string {
  const rows = [
    [
      'server',
      'operation',
      'requests/s',
      '± %',
      '× first',
      'CPU s/1,000',
      '× first',
      'p50 ms',
      'p99 ms',
    ],
  ];
  for (const operation of operations) {
    const base = results.medians(baseName, connections, operation);
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
  return markdownTable(rows);
}

/** All tables, in Markdown. */
export function report(groups: readonly Group[], connectionCounts: readonly number[]): string {
  const sections = groups.flatMap((group) => {
    const loads = connectionCounts.map(
      (count) =>
        `### ${count} ${count === 1 ? 'connection' : 'connections'}\n\n${loadTable(group, count)}`,
    );
    return [`## ${group.title}`, ...loads];
  });
  const footprints = markdownTable([
    ['server', 'start ms', 'peak memory MiB'],
    ...groups.flatMap(({ title, results }, index) =>
      results.footprints.map(({ name, startMilliseconds, peakMemory }) => [
        index === 0 ? name : `${name} (${title})`,
        startMilliseconds.toFixed(0),
        peakMemory.toFixed(0),
      ]),
    ),
  ]);
  return [...sections, `## Start and memory\n\n${footprints}`].join('\n\n');
}
