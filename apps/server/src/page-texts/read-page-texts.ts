import { decodeJson } from '@latchkey/domain/decode-json';
import { en, type TextKey, type Texts } from './en.ts';

export type TextsByLanguage = Readonly<Record<string, Texts>>;

export const PLACEHOLDER = /\{([^{}]*)\}/g;

export class BadTexts extends Error {
  override readonly name = 'BadTexts';
}

export function parsePageTexts(json: string): TextsByLanguage {
  let content: unknown;
  try {
    content = decodeJson(json);
  } catch {
    throw new BadTexts('is not JSON');
  }
  if (!isObject(content)) throw new BadTexts('is not an object of languages');
  const languages = Object.entries(content).map(([tag, texts]) => {
    const language = canonicalTag(tag);
    if (!isObject(texts))
      throw new BadTexts(`has something other than an object of texts in "${tag}"`);
    for (const [key, text] of Object.entries(texts)) checkText(tag, key, text);
    return [language, texts];
  });
  return Object.fromEntries(languages);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function canonicalTag(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] as string;
  } catch {
    throw new BadTexts(`has "${tag}", which is not a BCP 47 language tag`);
  }
}

function checkText(tag: string, key: string, text: unknown): void {
  const place = `"${key}" in "${tag}"`;
  if (!Object.hasOwn(en, key)) throw new BadTexts(`has the unknown text ${place}`);
  if (typeof text !== 'string' || text.trim() === '')
    throw new BadTexts(`has no words for ${place}`);
  const known = placeholdersOf(en[key as TextKey]);
  const unknown = placeholdersOf(text).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new BadTexts(`has the unknown placeholder {${unknown}} in ${place}`);
  }
}

export function placeholdersOf(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, one]) => one as string);
}
