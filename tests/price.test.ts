import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { CEILINGS } from '../scripts/measure/ceilings.ts';
import { contentsOf } from '../scripts/measure/changes/change.ts';
import { changes } from '../scripts/measure/changes/changes.ts';
import { priceOf } from '../scripts/measure/changes/prove.ts';

// Something that is added in many places is forgotten in one. price.slow.test.ts makes the changes in a copy.

/** The paths at the beginning of the items of a chapter, as patterns: `<name>` is any name. */
async function listedFiles(page: string, heading: string): Promise<RegExp[]> {
  const text = await readFile(new URL(`../${page}`, import.meta.url), 'utf8');
  const [, chapter = ''] = text.split(new RegExp(`^#+ ${heading}\\n`, 'm'));
  const [own = ''] = chapter.split(/^#/m);
  return [...own.matchAll(/^- `([^`]+\/[^`]+)`/gm)].map(([, path = '']) => {
    const escaped = path.replace(/[.]/g, '\\.').replace(/<\w+>/g, '[\\w-]+');
    return new RegExp(`^${escaped}$`);
  });
}

describe.each(changes)('to $name', (change) => {
  test('takes no more files than the ceiling allows', () => {
    const price = priceOf(change);
    expect(price).toBeGreaterThan(5);
    expect(price).toBeLessThanOrEqual(CEILINGS[change.name].files);
  });

  test('takes the files that the guide lists', async () => {
    const { page, heading } = change.guide;
    const listed = await listedFiles(page, heading);
    const edited = Object.keys(change.files);
    expect(edited.filter((path) => !listed.some((pattern) => pattern.test(path)))).toEqual([]);
    const unused = listed.filter((pattern) => !edited.some((path) => pattern.test(path)));
    expect(unused).toEqual([]);
    expect(listed).toHaveLength(edited.length);
  });
});

test('an edit whose place is gone, or is there twice, is told with its file', () => {
  const change = { name: 'a change', files: { 'a.ts': [{ at: 'x', after: 'y' }] } };
  expect(() => contentsOf(change, () => 'a')).toThrow('a change does not fit a.ts: it has 0 times');
  expect(() => contentsOf(change, () => 'xx')).toThrow('it has 2 times');
  expect(contentsOf(change, () => 'axb')).toEqual(new Map([['a.ts', 'axyb']]));
});
