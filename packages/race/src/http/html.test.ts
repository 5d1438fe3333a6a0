import { expect, test } from 'vitest';
import { decode, fieldsOf, formsOf } from './html.ts';

const MANY = 70_000;

test.each([
  ['forms that never end', '<form '.repeat(MANY), 1, 0],
  ['forms with a quote each', '<form a="'.repeat(MANY), 1, 0],
  ['forms in one another', '<form>'.repeat(MANY), 1, 0],
  ['fields', `<form>${'<input name=a>'.repeat(MANY)}`, 1, MANY],
  ['fields that never end', `<form>${'<input name=a '.repeat(MANY)}`, 1, 1],
  ['texts that never end', `<form>${'<textarea name=a>'.repeat(MANY)}`, 1, 1],
  ['choices that never end', `<form>${'<select name=a><option '.repeat(MANY)}`, 1, 1],
])('a page of a megabyte with %s is read once', (_, page, forms, fields) => {
  const found = formsOf(page);
  expect(found).toHaveLength(forms);
  expect(found.flatMap(({ content }) => fieldsOf(content))).toHaveLength(fields);
});

test('what is in a text is no field', () => {
  const form = `<textarea name=a title=it's><input name=b></TEXTAREA><input name=c value="d>e">`;
  expect(fieldsOf(form)).toEqual([
    ['a', '<input name=b>'],
    ['c', 'd>e'],
  ]);
});

test('an entity is replaced once, whatever number it names', () => {
  expect(decode('&#38;lt; &#X26;quot; &amp;#60; &lt;&#x3E;')).toBe('&lt; &quot; &#60; <>');
  expect(decode('&#99999999999;&#x110000;&#xffffffffff;')).toBe('\ufffd'.repeat(3));
});
