import { appendFile, cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { generated, partly, statementTables } from './support/generated/files.ts';
import { staleFiles } from './support/generated/stale.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFile(join(root, path), 'utf8');

// TypeDoc is installed and run once, by reference.test.ts.
const isReference = (path: string) => path.startsWith('docs/reference/');

const made = new Map<string, string>();
beforeAll(async () => {
  for (const [path, make] of Object.entries({ ...generated, ...partly })) {
    if (!isReference(path)) made.set(path, await make());
  }
});

test('what is generated and committed is what the sources say', async () => {
  expect(await staleFiles(root, made), 'Run: npm run generate').toEqual([]);
});

test('a file that is stale, or missing, is found', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-generated-'));
  try {
    for (const path of made.keys()) await cp(join(root, path), join(folder, path));
    const before = await staleFiles(folder, made);
    await appendFile(join(folder, 'packages/schema/src/types.ts'), '\n');
    await rm(join(folder, 'docs/errors.md'));
    const found = await staleFiles(folder, made);
    expect(found.filter((path) => !before.includes(path)).sort()).toEqual([
      'docs/errors.md',
      'packages/schema/src/types.ts',
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('each says that it is generated, where it can', async () => {
  for (const path of Object.keys(generated)) {
    if (path.endsWith('.json')) continue;
    expect((await read(path)).slice(0, 300), path).toMatch(
      /^(?:\/\/|<!--) Made from .*: npm run generate\b/m,
    );
  }
});

test('.gitattributes folds each of them in a diff, and no table of statements', async () => {
  const lines = (await read('.gitattributes')).split('\n').map((line) => line.split(' '));
  const having = (attribute: string) =>
    lines.flatMap(([path = '', has]) => (has === attribute ? [path] : []));
  // These nothing here makes.
  const others = ['benchmarks/results/*', 'requirements.txt'];
  const paths = [...Object.keys(generated), ...others];
  expect(having('linguist-generated').sort()).toEqual(paths.sort());
  expect(having('-linguist-generated')).toEqual(Object.keys(statementTables));
});
