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

/** The conditions and the tables of a result, in Markdown. */
const figuresOf = ({ conditions, text }: BenchmarkResult): string =>
  `${conditionsLine(conditions)}\n\n${text}`;

/** A result in Markdown: its conditions, tables and targets. */
export function render(result: BenchmarkResult): string {
  const targetTable = markdownTable([
    ['target', 'measured', 'met'],
    ...result.targets.map(({ text, measured, isMet }) => [text, measured, isMet ? 'yes' : 'no']),
  ]);
  return `${figuresOf(result)}\n\n## Targets\n\n${targetTable}\n`;
}

/** What docs/performance.md says of a part, between its markers. */
export const blockOf = (page: string): RegExp =>
  new RegExp(`(?<=<!-- ${page} -->\\n\\n).*(?=\\n\\n<!-- end of ${page} -->)`, 's');

/** What docs/performance.md has of the figures of a part, if it has a block for them. */
export const figuresBlockOf = (page: string): RegExp => blockOf(`figures of ${page}`);

/** How many targets were met, and all that were missed, in Markdown. */
export function targetSummary(
  { page, title }: Pick<Benchmark, 'page' | 'title'>,
  targets: readonly Target[],
  date: string,
): string {
  const missed = targets.filter(({ isMet }) => !isMet);
  const met = `${targets.length - missed.length} of ${targets.length} targets met`;
  const head = `**[${title}](../benchmarks/results/${page}.md)**, ${date}: ${met}.`;
  if (missed.length === 0) return head;
  const rows = missed.map(({ text, measured }) => [text, measured]);
  return `${head}\n\n${markdownTable([['missed', 'measured'], ...rows])}`;
}

/**
 * Writes the page of a result and its plot to `results`, and its targets to docs/performance.md, which also has
 * the figures of a part if there is a block for them.
 */
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
  const text = (await readFile(docs, 'utf8'))
    .replace(blockOf(page), () => summary)
    .replace(figuresBlockOf(page), () => figuresOf(result));
  await writeFile(docs, text);
}
