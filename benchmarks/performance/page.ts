import { writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { targetTable } from './checked.ts';
import type { Findings, Part } from './part.ts';
import { pinned } from './server-process.ts';

/** What was found, in Markdown: under which conditions, the tables, and the targets. */
export function write({ conditions, text, checked }: Findings): string {
  const [cpu] = cpus();
  const where = [
    new Date().toISOString().slice(0, 10),
    `Node ${process.versions.node}`,
    `${cpu?.model ?? 'unknown CPU'}, ${cpus().length} cores`,
    pinned ? 'servers and load on a core each' : 'servers and load on the same cores',
    ...conditions,
  ].join('; ');
  return `${where}.\n\n${text}\n\n## Targets\n\n${targetTable(checked)}\n`;
}

/** Keeps what was found in `results`, as a page of its own and its plot. */
export async function keep({ page, title }: Part, findings: Findings): Promise<void> {
  const file = (ending: string) => new URL(`../results/${page}.${ending}`, import.meta.url);
  const { plot } = findings;
  const about =
    'Written by `npm run bench`; [what is measured, and how](../../docs/performance.md).';
  const picture = plot ? `![${plot.about}](${page}.svg)\n\n` : '';
  await writeFile(file('md'), `# ${title}\n\n${about}\n\n${picture}${write(findings)}`);
  if (plot) await writeFile(file('svg'), plot.svg);
}
