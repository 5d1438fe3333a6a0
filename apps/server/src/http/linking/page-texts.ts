import { de } from '../../page-texts/de.ts';
import { en, type TextKey, type Texts } from '../../page-texts/en.ts';
import { chooseLanguage, directionOf } from '../../page-texts/language.ts';
import { PLACEHOLDER, type TextsByLanguage } from '../../page-texts/read-page-texts.ts';
import { type Html, type HtmlValue, html, replaceInText } from '../html.ts';

const shipped: TextsByLanguage = { en, de };

type PlaceholderIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholderIn<Rest>
  : never;

/** What a text needs: a value for each of its placeholders. */
export type ValuesOf<Key extends TextKey> = Record<PlaceholderIn<(typeof en)[Key]>, HtmlValue>;

type ValueArguments<Key extends TextKey> = [PlaceholderIn<(typeof en)[Key]>] extends [never]
  ? []
  : [values: ValuesOf<Key>];

/** The texts of the pages in one language. */
export interface PageTexts {
  /** The BCP 47 tag of the language. */
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
  /** A text for the body of a page. One that is missing is in English, and marked as English. */
  of<Key extends TextKey>(key: Key, ...values: ValueArguments<Key>): Html;
  /** A text for a place that takes no markup. */
  plain(key: TextKey): string;
}

/** The texts of the pages in every language. */
export interface TextCatalog {
  readonly languages: readonly string[];
  /** @param preferred - language tags, the best first */
  choose(preferred: readonly string[]): PageTexts;
}

/**
 * @param overrides - PAGE_TEXTS: texts in the place of those that are shipped, and other languages
 */
export function createTextCatalog(overrides: TextsByLanguage): TextCatalog {
  const languages = [...new Set([...Object.keys(shipped), ...Object.keys(overrides)])];
  const byLanguage = new Map(
    languages.map((language) => [language, { ...shipped[language], ...overrides[language] }]),
  );
  const english = { ...en, ...overrides.en };

  function textsIn(language: string): PageTexts {
    const own: Texts = byLanguage.get(language) ?? {};
    return {
      language,
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
    choose: (preferred) => textsIn(chooseLanguage(preferred, languages) ?? 'en'),
  };
}
