import { readFile, writeFile } from 'node:fs/promises';
import type { Measurement } from './published.ts';
import { report } from './report.ts';

const at = (path: string) => new URL(path, import.meta.url);
const results = at('../results/races.json');

/** What stands between the markers of docs/races.md. */
export const BLOCK = /(?<=<!-- results -->\n\n).*(?=\n<!-- end of results -->)/s;

/** What was measured last of each server, without what is not public. */
export const readResults = async (): Promise<Measurement[]> =>
  JSON.parse(await readFile(results, 'utf8'));

/** The pages with the results, by their path in the repository. */
export async function pagesOf(measurements: readonly Measurement[]): Promise<Map<string, string>> {
  const text = report(measurements);
  const page = await readFile(at('../../docs/races.md'), 'utf8');
  return new Map([
    [
      'benchmarks/results/races.md',
      `# Races and abuse\n\nWritten by \`npm run bench:races\`. [What is measured, and how each server is set up](../../docs/races.md).\n\n${text}`,
    ],
    ['docs/races.md', page.replace(BLOCK, () => text)],
  ]);
}

export async function writeResults(measurements: readonly Measurement[]): Promise<void> {
  await writeFile(results, `${JSON.stringify(measurements, null, 2)}\n`);
  for (const [path, text] of await pagesOf(measurements)) {
    await writeFile(at(`../../${path}`), text);
  }
}
