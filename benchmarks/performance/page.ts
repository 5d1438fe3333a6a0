import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { markdownTable } from '../../packages/test-kit/src/markdown-table.ts';
import type { Benchmark, BenchmarkResult } from './benchmark.ts';
import { isPinned } from './server-process.ts';

/** Where and when something was measured, and its own conditions: one line. */
export function conditionsLine(conditions: readonly string[]): string {
  const [cpu] = cpus();
  const all = [
    new Date().toISOString().slice(0, 10),
    `Node ${process.versions.node}`,
    `${cpu?.model ?? 'unknown CPU'}, ${cpus().length} cores`,
    isPinned ? 'one core for the servers, one for the load' : 'servers and load on the same cores',
    ...conditions,
  ];
  return `${all.join('; ')}.`;
}

/** A result in Markdown: its conditions, tables and targets. */
export function render({ conditions, text, targets }: BenchmarkResult): string {
  const targetTable = markdownTable([
    ['target', 'measured', 'met'],
    ...targets.map(({ text, measured, isMet }) => [text, measured, isMet ? 'yes' : 'no']),
  ]);
  return `${conditionsLine(conditions)}\n\n${text}\n\n## Targets\n\n${targetTable}\n`;
}

/** Writes the page of a result, and its plot, to `results`. */
export async function save({ page, title }: Benchmark, result: BenchmarkResult): Promise<void> {
  const file = (ending: string) => new URL(`../results/${page}.${ending}`, import.meta.url);
  const { plot } = result;
  const source =
    'Written by `npm run bench`. [What is measured, and how](../../docs/performance.md).';
  const image = plot ? `![${plot.alt}](${page}.svg)\n\n` : '';
  await writeFile(file('md'), `# ${title}\n\n${source}\n\n${image}${render(result)}`);
  if (plot) await writeFile(file('svg'), plot.svg);
}
