import { markdownTable } from '@latchkey/test-kit/markdown-table';

/** A fenced block of code. */
export interface CodeBlock {
  /** The word after the opening fence. */
  language: string;
  code: string;
  /** The number of its first line, from 1. */
  line: number;
  /** The program's file, if the paragraph before the block names one. */
  file: string | undefined;
}

/** A fence and its contents (CommonMark, section 4.5), as far as the project's files use them. */
const FENCED = /^( *)(`{3,})([^\n`]*)\n([\s\S]*?)^\1\2 *$/gm;

export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(FENCED)].map((match) => {
    const before = markdown.slice(0, match.index);
    return {
      language: (match[3] ?? '').trim(),
      code: match[4] ?? '',
      line: before.split('\n').length,
      file: /`([\w.-]+\.ts)`(?:.|\n(?!\n))*\n*$/.exec(before)?.[1],
    };
  });
}

/** The text around the fenced blocks. */
export function prose(markdown: string): string {
  return markdown.replace(FENCED, '');
}

function withoutCode(markdown: string): string {
  return prose(markdown).replace(/(`+)[^`]+?\1/g, (code) => code.replace(/[[\]]/g, ''));
}

/** The targets of the links in a text: inline links, images, also in HTML, and definitions. */
export function links(markdown: string): string[] {
  const text = withoutCode(markdown);
  return [
    ...text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g),
    ...text.matchAll(/<img src="([^"]+)"/g),
    ...text.matchAll(/^ {0,3}\[[^\]]+\]:\s*<?(\S+?)>?\s*$/gm),
  ].map(([, target]) => target as string);
}

/** The anchors in a text: those that GitHub generates for headings, and explicit ones. */
export function anchors(markdown: string): Set<string> {
  const text = prose(markdown);
  const seen = new Map<string, number>();
  const ofHeadings = [...text.matchAll(/^#{1,6} +(.+?) *#* *$/gm)].map(([, heading]) => {
    const slug = (heading as string)
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  });
  const written = [...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, id]) => id as string);
  return new Set([...ofHeadings, ...written]);
}

/** The rows of the first table below a heading: the texts of the cells, without backticks. */
export function tableBelow(markdown: string, heading: string): string[][] {
  return rowsBelow(markdown, heading).map((cells) =>
    cells.map((cell) => cell.replaceAll('`', '').replaceAll('\\|', '|')),
  );
}

/** The same as they are written. */
export function rowsBelow(markdown: string, heading: string): string[][] {
  const { lines, first, end } = findTable(markdown, heading);
  // Without the header and the line below it.
  return lines.slice(first + 2, end).map(cellsOf);
}

/** The text with other rows, as they are written, in the first table below a heading. */
export function withTableBelow(markdown: string, heading: string, rows: string[][]): string {
  const { lines, first, end } = findTable(markdown, heading);
  const table = markdownTable([cellsOf(lines[first] as string), ...rows]);
  return [...lines.slice(0, first), table, ...lines.slice(end)].join('\n');
}

const cellsOf = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

function findTable(markdown: string, heading: string) {
  const lines = markdown.split('\n');
  const start = lines.findIndex(
    (line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading,
  );
  if (start === -1) throw new Error(`There is no heading "${heading}".`);
  const first = lines.findIndex((line, index) => index > start && line.startsWith('|'));
  const rest = lines.slice(first).findIndex((line) => !line.startsWith('|'));
  return { lines, first, end: rest === -1 ? lines.length : first + rest };
}
