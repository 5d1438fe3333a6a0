import { de } from '../../page-texts/de.ts';
import { en, type TextKey, type Texts } from '../../page-texts/en.ts';
import { chooseLanguage, directionOf, type LanguageChoice } from '../../page-texts/language.ts';
import { PLACEHOLDER, type TextsByLanguage } from '../../page-texts/read-page-texts.ts';
import { type Html, type HtmlValue, html, replaceInText } from '../html.ts';

const shipped: TextsByLanguage = { en, de };

type PlaceholderIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholderIn<Rest>
  : never;

type ValuesOf<Key extends TextKey> = Record<PlaceholderIn<(typeof en)[Key]>, HtmlValue>;

type TextArguments<Key extends TextKey> = [PlaceholderIn<(typeof en)[Key]>] extends [never]
  ? []
  : [values: Record<PlaceholderIn<(typeof en)[Key]>, string>];

type ValueArguments<Key extends TextKey> = [PlaceholderIn<(typeof en)[Key]>] extends [never]
  ? []
  : [values: ValuesOf<Key>];

export interface PageTexts extends LanguageChoice {
  readonly direction: 'ltr' | 'rtl';
  of<Key extends TextKey>(key: Key, ...values: ValueArguments<Key>): Html;
  /** For a title or an attribute, where nothing can mark another language. */
  plain<Key extends TextKey>(key: Key, ...values: TextArguments<Key>): string;
}

export interface TextCatalog {
  readonly languages: readonly string[];
  choose(preferred: readonly string[]): PageTexts;
}

export function createTextCatalog(overrides: TextsByLanguage): TextCatalog {
  const languages = [...new Set([...Object.keys(shipped), ...Object.keys(overrides)])];
  const english = { ...en, ...overrides.en };
  const textsIn = (language: string) =>
    createTexts(language, { ...shipped[language], ...overrides[language] }, english);
  const byTag = new Map(languages.map((language) => [language.toLowerCase(), textsIn(language)]));
  const inEnglish = { found: textsIn('en'), wanted: 'en' };

  return {
    languages,
    choose(preferred) {
      const { found, wanted } = chooseLanguage(preferred, byTag) ?? inEnglish;
      return { ...found, wanted };
    },
  };
}

function createTexts(
  language: string,
  own: Texts,
  english: Required<Texts>,
): Omit<PageTexts, 'wanted'> {
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
    // U+2068 and U+2069 isolate the direction of a text, as `<bdi>` does in a page.
    plain: (key, ...[values]) =>
      (own[key] ?? english[key]).replace(PLACEHOLDER, (_, name: string) => {
        const value = (values as Record<string, string> | undefined)?.[name] ?? '';
        return `\u2068${value}\u2069`;
      }),
  };
}
