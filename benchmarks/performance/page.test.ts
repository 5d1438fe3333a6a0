import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { tableBelow } from '../../tests/support/markdown.ts';
import { lineOf, targetSummary } from './page.ts';

const at = (path: string) => new URL(`../../${path}`, import.meta.url);
const pages = (await readdir(at('benchmarks/results')))
  .filter((file) => file.endsWith('.md'))
  .map((file) => file.slice(0, -'.md'.length));

test('docs/performance.md says how many targets each result meets', async () => {
  const docs = await readFile(at('docs/performance.md'), 'utf8');
  const written: string[] = [];
  for (const page of pages) {
    const text = await readFile(at(`benchmarks/results/${page}.md`), 'utf8');
    if (!text.includes('## Targets')) continue;
    const [, title = ''] = /^# (.*)$/m.exec(text) ?? [];
    const [date = ''] = /^\d{4}-\d{2}-\d{2}/m.exec(text) ?? [];
    const targets = tableBelow(text, 'Targets').map(([target = '', measured = '', met]) => ({
      ...{ text: target, measured, isMet: met === 'yes' },
    }));
    expect(targets.length, page).toBeGreaterThan(0);
    expect(lineOf(page).exec(docs)?.[0]).toBe(targetSummary({ page, title }, targets, date));
    written.push(page);
  }
  expect(written.sort()).toEqual(['events', 'growth', 'memory', 'peers', 'performance']);
});
