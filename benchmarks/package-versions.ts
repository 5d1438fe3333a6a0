import { readFile } from 'node:fs/promises';

/** The names and versions of dependencies. */
export async function packageVersions(names: readonly string[]): Promise<string> {
  const { dependencies } = JSON.parse(
    await readFile(new URL('package.json', import.meta.url), 'utf8'),
  ) as { dependencies: Record<string, string> };
  return names.map((name) => `\`${name}\` ${dependencies[name]}`).join(', ');
}
