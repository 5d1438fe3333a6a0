import { expect, test } from 'vitest';
import { mayClaim } from './claimed-name.ts';

const PAGE_NAME = 'Photos Inc.';

test.each<[name: string, isShown: boolean]>([
  ['Claude', true],
  ['Node.js tools', true],
  ["O'Reilly’s notes", false],
  ["O'Reilly notes", true],
  ['a'.repeat(40), true],
  ['😀'.repeat(40), true],
  ['a'.repeat(41), false],
  ['Claude, checked by Photos Inc. It only', false],
  ['Claude, checked by you', false],
  ['Claude. Allow', false],
  ['Claude: Allow', false],
  ['Claude;\u2003Allow', false],
  ['Really?', false],
  ['Yahoo!', false],
  ['1,000 notes', true],
  ['Notes,Inc', true],
  ['Notes.\u00a0Inc', false],
  ['Claude.\ufe0e It was checked', false],
  ['Really?\ufe0f', false],
  ['a "b" c', false],
  ['a” and', false],
  ['a “ and', false],
  ['a« b', false],
  ['a„b', false],
  ['a‚b', false],
  ['Claude.\u200d\u0323 It was checked', false],
  ['wait…', false],
  ['笔记。好', false],
  ['笔记！好', false],
  ['笔记？好', false],
  ['笔记；好', false],
  ['笔记：好', false],
  ['笔记，好', false],
  ['Photos Inc', false],
  ['My photos-inc helper', false],
  ['ＰＨＯＴＯＳ　ＩＮＣ', false],
  ['Pho\u0301tos Inc', true],
  ['Photos', true],
])('pages say that a stranger calls itself %j: %s', (name, isShown) => {
  expect(mayClaim(name, PAGE_NAME)).toBe(isShown);
});

test.each([
  ['A.I.', 'AI notes', true],
  ['Ai2', 'AI2 notes', false],
  ['', 'Notes', true],
  ['shop.example', 'Shop Example', false],
  ['shop.example', 'Shopping', true],
  ['Κόσμος', 'ΚΌΣΜΟΣ.gr', false],
  ['Böhmer', 'Bo\u200d\u0308hmer Photos', false],
  ['Böhmer', 'Bo\ufe0e\u0308hmer Photos', false],
])('beside a service with the name %j, %j: %s', (pageName, name, isShown) => {
  expect(mayClaim(name, pageName)).toBe(isShown);
});
