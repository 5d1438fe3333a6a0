import { describe, expect, test } from 'vitest';
import { chooseLanguage, directionOf, preferredLanguages } from './language.ts';

describe('the preferred languages', () => {
  test('are those of the operation, then of the application, then of the browser, then English', () => {
    const sources = {
      locale: 'nl',
      ui_locales: 'fr-CA fr',
      acceptLanguage: 'it;q=0.5, es, pt ; level=1 ; Q=0.7',
    };
    expect(preferredLanguages(sources)).toEqual(['nl', 'fr-CA', 'fr', 'es', 'pt', 'it', 'en']);
  });

  test.each([
    ['nothing', {}],
    ['what is not acceptable', { acceptLanguage: 'de;q=0, *' }],
    ['what is no tag', { locale: '"><b>', ui_locales: '  -', acceptLanguage: ';;,=,q=1' }],
  ])('leave out %s', (_, sources) => {
    expect(preferredLanguages(sources)).toEqual(['en']);
  });

  test('are not as many as a header can have', () => {
    const acceptLanguage = Array.from({ length: 2_000 }, (_, i) => `de-x${i}`).join(',');
    expect(preferredLanguages({ acceptLanguage })).toHaveLength(21);
  });
});

test.each([
  [['de'], { found: 'German', wanted: 'de' }],
  [['DE-at'], { found: 'German', wanted: 'DE-at' }],
  [['pt', 'zh-Hant-TW', 'de'], { found: 'Chinese', wanted: 'zh-Hant-TW' }],
  [['pt-BR', 'de'], { found: 'Portuguese', wanted: 'pt-BR' }],
  [['pt', 'fr'], undefined],
])('of %j, %o is there', (preferred, expected) => {
  const available = { en: 'English', de: 'German', 'pt-br': 'Portuguese', 'zh-hant': 'Chinese' };
  const byTag = new Map(Object.entries(available));
  expect(chooseLanguage(preferred, byTag)).toEqual(expected);
});

test.each([
  ['en', 'ltr'],
  ['de-AT', 'ltr'],
  ['ar', 'rtl'],
  ['he', 'rtl'],
  ['fa-IR', 'rtl'],
  ['az-Arab', 'rtl'],
  ['ar-Latn', 'ltr'],
])('%s is written %s', (language, direction) => {
  expect(directionOf(language)).toBe(direction);
});
