import { readFile, writeFile } from 'node:fs/promises';
import type { Measurement } from './published.ts';
import { report } from './report.ts';

const at = (path: string) => new URL(path, import.meta.url);
const results = at('../results/races.json');
export const page = at('../results/races.md');

/** What was measured last of each server, without what is not public. */
export const readResults = async (): Promise<Measurement[]> =>
  JSON.parse(await readFile(results, 'utf8'));

/** The page with the results. */
export const pageOf = (measurements: readonly Measurement[]): string =>
  `# Races and abuse\n\nWritten by \`npm run bench:races\`. [What is measured, and how each server is set up](../../docs/races.md).\n\n${report(measurements)}`;

export async function writeResults(measurements: readonly Measurement[]): Promise<void> {
  await writeFile(results, `${JSON.stringify(measurements, null, 2)}\n`);
  await writeFile(page, pageOf(measurements));
}
