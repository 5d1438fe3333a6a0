import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const repository = new URL('..', import.meta.url);
const read = (path: string) => readFile(new URL(path, repository), 'utf8');

test('docs/security.md names tests that there are', async () => {
  const page = await read('docs/security.md');
  const named = [
    ...page.matchAll(
      /`((?:packages\/store-suite\/src\/[\w-]+|[\w/-]+(?:\.\w+)*\.test)\.ts)`(?: \("([^"]+)"\))?/g,
    ),
  ];
  expect(named.length).toBeGreaterThan(30);
  for (const [, file = '', title] of named) {
    const found = await Promise.any(
      ['apps/server/test/', 'apps/server/src/', ''].map((folder) => read(folder + file)),
    ).catch(() => expect.fail(`There is no ${file}.`));
    if (title !== undefined) expect(found, file).toContain(title);
  }
});
