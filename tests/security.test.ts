import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const NAMES =
  /`((?:packages\/store-suite\/src\/[\w-]+|[\w/-]+(?:\.\w+)*\.test)\.ts)`(?: \("([^"]+)"\))?/g;

const repository = new URL('..', import.meta.url);
const read = (path: string) => readFile(new URL(path, repository), 'utf8');

test('docs/security.md names a test for each attack and each point, and tests that there are', async () => {
  const page = await read('docs/security.md');
  for (const title of ['Attacks, and what stops them', 'RFC 9700, point by point']) {
    const [, section = ''] = page.split(`## ${title}\n`);
    const [, , ...rows] = section.replace(/^## .*/ms, '').match(/^\|.*$/gm) ?? [];
    expect(rows.length, title).toBeGreaterThan(20);
    expect(rows.filter((row) => row.match(NAMES) === null)).toEqual([]);
  }
  const named = page.matchAll(NAMES);
  for (const [, file = '', title] of named) {
    const found = await Promise.any(
      ['apps/server/test/', 'apps/server/src/', ''].map((folder) => read(folder + file)),
    ).catch(() => expect.fail(`There is no ${file}.`));
    if (title !== undefined) expect(found, file).toContain(title);
  }
});
