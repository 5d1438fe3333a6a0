import { de } from '../../page-texts/de.ts';
import { en, type TextKey, type Texts } from '../../page-texts/en.ts';
import { chooseLanguage, directionOf, type LanguageChoice } from '../../page-texts/language.ts';
import { PLACEHOLDER, type TextsByLanguage } from '../../page-texts/read-page-texts.ts';
import { type Html, type HtmlValue, html, replaceInText } from '../html.ts';

const shipped: TextsByLanguage = { en, de };

type PlaceholderIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholderIn<Rest>
  : never;

export type ValuesOf<Key extends TextKey> = Record<PlaceholderIn<(typeof en)[Key]>, HtmlValue>;

type ValueArguments<Key extends TextKey> = [PlaceholderIn<(typeof en)[Key]>] extends [never]
  ? []
  : [values: ValuesOf<Key>];

export interface PageTexts extends LanguageChoice {
  readonly direction: 'ltr' | 'rtl';
  of<Key extends TextKey>(key: Key, ...values: ValueArguments<Key>): Html;
  plain(key: TextKey): string;
}

export interface TextCatalog {
  readonly languages: readonly string[];
  choose(preferred: readonly string[]): PageTexts;
}

export function createTextCatalog(overrides: TextsByLanguage): TextCatalog {
  const languages = [...new Set([...Object.keys(shipped), ...Object.keys(overrides)])];
  const byLanguage = new Map(
    languages.map((language) => [language, { ...shipped[language], ...overrides[language] }]),
  );
  const english = { ...en, ...overrides.en };

  function textsIn(choice: LanguageChoice): PageTexts {
    const { language } = choice;
    const own: Texts = byLanguage.get(language) ?? {};
    return {
      ...choice,
      direction: directionOf(language),
      of(key, ...[values]) {
        const filled = replaceInText(
          own[key] ?? english[key],
          PLACEHOLDER,
          (name) => (values as Record<string, HtmlValue> | undefined)?.[name] ?? null,
        );
        if (own[key] !== undefined) return filled;
        return html`<span lang="en" dir="ltr">${filled}</span>`;
      },
      plain: (key) => own[key] ?? english[key],
    };
  }

  return {
    languages,
    choose: (preferred) =>
      textsIn(chooseLanguage(preferred, languages) ?? { language: 'en', wanted: 'en' }),
  };
}
