import { describe, expect, test } from 'vitest';
import { de } from '../../page-texts/de.ts';
import { en, type TextKey } from '../../page-texts/en.ts';
import { placeholdersOf } from '../../page-texts/read-page-texts.ts';
import { html } from '../html.ts';
import { createTextCatalog } from './text-catalog.ts';

const keys = Object.keys(en) as TextKey[];

describe.each([['German', de]])('the %s texts', (_, texts) => {
  test('are complete', () => {
    expect(Object.keys(texts)).toEqual(keys);
    expect(keys.filter((key) => texts[key].trim() === '')).toEqual([]);
  });

  test.each(keys)('%s says of what it speaks', (key) => {
    expect(new Set(placeholdersOf(texts[key]))).toEqual(new Set(placeholdersOf(en[key])));
  });
});

describe('a text', () => {
  const names = { application: html`<bdi>A&amp;B</bdi>`, service: '<S>' };
  const catalog = createTextCatalog({
    en: { 'consent.deny': 'No' },
    de: { 'consent.title': '{service}: {application} & {application}?' },
    fr: { 'consent.allow': 'Autoriser' },
    ar: {},
  });
  const texts = (...preferred: string[]) => catalog.choose(preferred);

  test('is the overriding one, then the shipped one', () => {
    expect(String(texts('de').of('consent.title', names))).toBe(
      '&lt;S&gt;: <bdi>A&amp;B</bdi> &amp; <bdi>A&amp;B</bdi>?',
    );
    expect(String(texts('de').of('consent.allow'))).toBe('Zulassen');
    expect(texts('en').plain('consent.deny')).toBe('No');
  });

  test('that is missing is in English, and says so', () => {
    expect(String(texts('fr').of('consent.allow'))).toBe('Autoriser');
    expect(String(texts('fr').of('consent.deny'))).toBe('<span lang="en" dir="ltr">No</span>');
    expect(texts('fr').plain('consent.deny')).toBe('No');
  });

  test('has the direction of its language', () => {
    expect(texts('ar')).toMatchObject({ language: 'ar', direction: 'rtl' });
    expect(texts('fr-CA', 'ar')).toMatchObject({ language: 'fr', direction: 'ltr' });
    expect(texts('xx')).toMatchObject({ language: 'en', direction: 'ltr' });
    expect(catalog.languages).toEqual(['en', 'de', 'fr', 'ar']);
  });
});
