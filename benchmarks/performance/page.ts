import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { markdownTable } from '../../packages/test-kit/src/markdown-table.ts';
import type { Benchmark, BenchmarkResult, Target } from './benchmark.ts';
import { isPinned } from './server-process.ts';

const today = () => new Date().toISOString().slice(0, 10);

/** Where and when something was measured, and its own conditions: one line. */
export function conditionsLine(conditions: readonly string[]): string {
  const [cpu] = cpus();
  const all = [
    today(),
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

/** The line of docs/performance.md about the targets of a part. */
export const lineOf = (page: string): RegExp =>
  new RegExp(`^- .*\\(\\.\\./benchmarks/results/${page}\\.md#targets\\).*$`, 'm');

/** How many targets were met, in Markdown. */
export function targetSummary(
  { page, title }: Pick<Benchmark, 'page' | 'title'>,
  targets: readonly Target[],
  date: string,
): string {
  const met = targets.filter(({ isMet }) => isMet).length;
  return `- [${title}](../benchmarks/results/${page}.md#targets), ${date}: ${met} of ${targets.length} met`;
}

/** Writes the page of a result and its plot to `results`, and how many targets it met to docs/performance.md. */
export async function save(benchmark: Benchmark, result: BenchmarkResult): Promise<void> {
  const { page, title } = benchmark;
  const file = (ending: string) => new URL(`../results/${page}.${ending}`, import.meta.url);
  const { plot } = result;
  const source =
    'Written by `npm run bench`. [What is measured, and how](../../docs/performance.md).';
  const image = plot ? `![${plot.alt}](${page}.svg)\n\n` : '';
  await writeFile(file('md'), `# ${title}\n\n${source}\n\n${image}${render(result)}`);
  if (plot) await writeFile(file('svg'), plot.svg);
  const docs = new URL('../../docs/performance.md', import.meta.url);
  const summary = targetSummary(benchmark, result.targets, today());
  const text = await readFile(docs, 'utf8');
  await writeFile(
    docs,
    text.replace(lineOf(page), () => summary),
  );
}
