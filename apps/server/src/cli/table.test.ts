import { describe, expect, test } from 'vitest';
import { ageOf } from './age.ts';
import { type Column, createTable } from './table.ts';
import { widthOf } from './text-width.ts';

interface Item {
  id: string;
  name: string;
  at: string;
}

const columns: readonly Column<Item>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'NAME', text: ({ name }) => name, flexible: true },
  { title: 'AGE', text: ({ at }) => at, short: () => '5d', optional: true },
];
const at = '2026-11-21T02:15:30.123+00:00';
const item = (id: string, name: string) => ({ id, name, at });

describe('a table', () => {
  test('has whole texts and tabs in a pipe', () => {
    const table = createTable(columns, undefined);
    expect(table([item('1', 'a'.repeat(200))])).toBe(`1\t${'a'.repeat(200)}\t${at}\n`);
  });

  test('is aligned under one heading on a terminal, on every page', () => {
    const table = createTable(columns, 80);
    expect(table([item('1', 'Acme'), item('22', 'Bee')])).toBe(
      'ID  NAME  AGE\n1   Acme  5d\n22  Bee   5d\n',
    );
    expect(table([item('3', 'Compañía')])).toBe('3   Compañía  5d\n');
  });

  test.each([40, 30, 24, 20])('fits a terminal of %i columns', (width) => {
    const table = createTable(columns, width);
    const text = table([item('1234', 'A name that is longer than any terminal is wide')]);
    for (const line of text.trimEnd().split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(width);
    expect(text).toContain('1234');
    expect(text).toContain('…');
    expect(text.includes('5d')).toBe(width > 20);
  });

  test('counts the columns that wide characters take', () => {
    const table = createTable(columns, 26);
    const [, one, other] = table([
      item('1', '株式会社日本橋商店株式会社'),
      item('2', '👩‍🚀 é'),
    ]).split('\n');
    expect(one).toMatch(/^1 {3}株\S+… {1,2}5d$/);
    expect(widthOf(one ?? '')).toBe(widthOf(other ?? ''));
  });
});

test.each([
  [0, '0s'],
  [59, '59s'],
  [60, '1m'],
  [3_600, '1h'],
  [86_399, '23h'],
  [86_400 * 400, '1y'],
])('%i seconds ago is %s', (seconds, text) => {
  expect(ageOf(at, Date.parse(at) + seconds * 1000)).toBe(text);
});
