import { readFile } from 'node:fs/promises';

/** Packages with the versions that are installed, for a page. */
export async function versionsOf(names: readonly string[]): Promise<string> {
  const { dependencies } = JSON.parse(
    await readFile(new URL('package.json', import.meta.url), 'utf8'),
  ) as { dependencies: Record<string, string> };
  return names.map((name) => `\`${name}\` ${dependencies[name]}`).join(', ');
}
