import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mistake } from './mistakes.ts';

/** The source with the mistake. Fails if the mistake does not fit the source any more. */
export async function withMistake(folder: string, { name, file, from, to }: Mistake) {
  const path = join(folder, file);
  const source = await readFile(path, 'utf8');
  const parts = source.split(from);
  if (parts.length !== 2) {
    const times = parts.length - 1;
    throw new Error(`"${name}" is out of date: its text is ${times} times in ${file}.`);
  }
  return { path, source, wrong: parts.join(to) };
}
