// Enough for every browser. A header may have 16 KiB of them.
const MAX_TAGS = 20;

// The form of a tag (RFC 5646, section 2.1), with the length that a header may reasonably have.
const TAG = /^[a-z]{2,8}(?:-[a-z0-9]{1,8}){0,8}$/i;

/** Where a person's languages are known from, the one that counts most first. */
export interface LanguageSources {
  /** From the operation that made the page. */
  locale?: string | null;
  /** Separated by spaces (OpenID Connect Core 1.0, section 3.1.2.1). */
  ui_locales?: string | null;
  acceptLanguage?: string | undefined;
}

/** The language tags that a person prefers, the best first. Never empty: the last one is `en`. */
export function preferredLanguages(sources: LanguageSources): string[] {
  const { locale, ui_locales, acceptLanguage = '' } = sources;
  const asked = [locale ?? '', ...(ui_locales ?? '').split(' ')];
  return [...asked, ...parseAcceptLanguage(acceptLanguage)]
    .filter((tag) => TAG.test(tag))
    .slice(0, MAX_TAGS)
    .concat('en');
}

/** The tags of an Accept-Language header (RFC 9110, section 12.5.4), the best first. */
function parseAcceptLanguage(header: string): string[] {
  return header
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((text) => text.trim());
      const weight = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2);
      return { tag, weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}

/**
 * The first preferred language that there is (RFC 4647, section 3.4: `de-AT` also finds `de`).
 *
 * @returns its tag as it is available; undefined if there is none
 */
export function chooseLanguage(
  preferred: readonly string[],
  available: Iterable<string>,
): string | undefined {
  const byLowerCase = new Map([...available].map((tag) => [tag.toLowerCase(), tag]));
  for (const tag of preferred) {
    const parts = tag.toLowerCase().split('-');
    for (let length = parts.length; length > 0; length--) {
      const found = byLowerCase.get(parts.slice(0, length).join('-'));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

const RIGHT_TO_LEFT = new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Syrc', 'Thaa']);

/** The direction in which a language is written. */
export function directionOf(language: string): 'ltr' | 'rtl' {
  const { script = '' } = new Intl.Locale(language).maximize();
  return RIGHT_TO_LEFT.has(script) ? 'rtl' : 'ltr';
}
