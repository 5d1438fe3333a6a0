import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The files below a folder that are not what is made of the sources now.
 *
 * @param made - the content of each, by its path in the folder
 */
export async function staleFiles(root: string, made: ReadonlyMap<string, string>) {
  const stale: string[] = [];
  for (const [path, content] of made) {
    const committed = await readFile(join(root, path), 'utf8').catch(() => null);
    if (committed !== content) stale.push(path);
  }
  return stale;
}
