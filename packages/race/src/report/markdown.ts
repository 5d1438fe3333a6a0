import type { Report } from '../run.ts';
import { outcomeOf, responseOf, summaryOf } from './words.ts';

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

/** The report as a page. */
export function markdownOf({ tool, node, date, server, load, rows }: Report): string {
  const lines = rows.map((row) => {
    const responses = row.responses.map(responseOf).join('<br>');
    return `| \`${row.id}\` | ${row.title} | ${row.verdict} | ${cell(outcomeOf(row))} | ${responses} | ${row.source} |`;
  });
  return `# Races and abuse on ${cell(server)}

${tool}, Node ${node}, ${date}. Up to ${load.codes} codes a row, ${load.requests} requests at once, ${load.pause} ms
between two codes, seed ${load.seed}.

${summaryOf(rows)}.

| row | what | verdict | codes | other responses | source |
| --- | --- | --- | --- | --- | --- |
${lines.join('\n')}
`;
}
