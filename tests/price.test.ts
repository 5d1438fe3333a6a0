import { access, glob, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CEILINGS } from '../scripts/measure/ceilings.ts';
import { contentsOf } from '../scripts/measure/changes/change.ts';
import { changes } from '../scripts/measure/changes/changes.ts';
import { priceOf } from '../scripts/measure/changes/prove.ts';
import { PARTS_OF_SERVICE } from './support/manifests.ts';

// Something that is added in many places is forgotten in one. price.slow.test.ts makes the changes in a copy.

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string) => readFile(root + path, 'utf8');

/** The paths at the beginning of the items of a chapter, as they are written: `<name>` is any name. */
async function listedFiles(heading: string): Promise<string[]> {
  const [, chapter = ''] = (await read('docs/extend.md')).split(`## ${heading}\n`);
  const [own = ''] = chapter.split(/^#/m);
  return [...own.matchAll(/^- `([^`]+)`/gm)].flatMap(([, path = '']) => path.match(/.*\..*/) ?? []);
}

const patternOf = (path: string) =>
  new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/<\w+>/g, '[\\w-]+')}$`);

/** The stores, by the ends of their names. */
const STORES = PARTS_OF_SERVICE.flatMap((name) => name.split('/store-').slice(1));

/** The files outside the stores where a new one has to be named: each of the others is. */
async function filesThatNameEachStore(): Promise<string[]> {
  const found: string[] = [];
  const pattern = '{apps,packages,scripts,tests,docs}/**/*.{ts,mjs,json,md}';
  const exclude = (path: string) =>
    /(?:^|\/)(?:node_modules|dist|store-\w+|decisions)$/.test(path) || path === 'docs/extend.md';
  for await (const path of glob([pattern, '*.ts'], { cwd: root, exclude })) {
    const text = await read(path);
    if (STORES.every((name) => text.includes(`store-${name}`))) found.push(path);
  }
  return found.sort();
}

describe.each(changes)('to $name', (change) => {
  test('takes no more files than the ceiling allows', () => {
    const price = priceOf(change);
    expect(price).toBeGreaterThan(5);
    expect(price).toBeLessThanOrEqual(CEILINGS[change.name].files);
  });

  test('takes the files that the guide lists', async () => {
    const listed = (await listedFiles(change.guide)).map(patternOf);
    const edited = Object.keys(change.files);
    expect(edited.filter((path) => !listed.some((pattern) => pattern.test(path)))).toEqual([]);
    const unused = listed.filter((pattern) => !edited.some((path) => pattern.test(path)));
    expect(unused).toEqual([]);
    expect(listed).toHaveLength(edited.length);
  });
});

test('to write a store takes the files that the guide lists', async () => {
  const listed = await listedFiles('Write a store');
  const ofStores = listed.filter((path) => path.includes('<name>'));
  expect(ofStores.length).toBeGreaterThan(2);
  for (const name of STORES) {
    for (const path of ofStores) {
      const own = path.replaceAll('<name>', name);
      await expect(access(root + own), own).resolves.toBeUndefined();
    }
  }
  const others = listed.filter((path) => !path.includes('<name>'));
  expect(others.sort()).toEqual(await filesThatNameEachStore());
});

test('an edit whose place is gone, or is there twice, is told with its file', () => {
  const change = { name: 'a change', files: { 'a.ts': [{ at: 'x', after: 'y' }] } };
  expect(() => contentsOf(change, () => 'a')).toThrow('a change does not fit a.ts: it has 0 times');
  expect(() => contentsOf(change, () => 'xx')).toThrow('it has 2 times');
  expect(contentsOf(change, () => 'axb')).toEqual(new Map([['a.ts', 'axyb']]));
});
