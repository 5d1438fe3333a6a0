import { readFile } from 'node:fs/promises';

/** A table with aligned columns. The first row is its header. */
export function table(rows: readonly (readonly string[])[]): string {
  const [header = [], ...body] = rows;
  const widths = header.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [header, widths.map((width) => '-'.repeat(width)), ...body].map(line).join('\n');
}

/** The names and versions of dependencies. */
export async function packageVersions(names: readonly string[]): Promise<string> {
  const { dependencies } = JSON.parse(
    await readFile(new URL('package.json', import.meta.url), 'utf8'),
  ) as { dependencies: Record<string, string> };
  return names.map((name) => `\`${name}\` ${dependencies[name]}`).join(', ');
}
