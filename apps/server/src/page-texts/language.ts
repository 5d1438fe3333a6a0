// A header may contain 16 KiB of tags.
const MAX_TAGS = 20;

const TAG = /^[a-z]{2,8}(?:-[a-z0-9]{1,8}){0,8}$/i;

export interface LanguageSources {
  locale?: string | null;
  /** Separated by spaces (OpenID Connect Core 1.0, section 3.1.2.1). */
  ui_locales?: string | null;
  acceptLanguage?: string | undefined;
}

/** The best first. The last one is always `en`. */
export function preferredLanguages(sources: LanguageSources): string[] {
  const { locale, ui_locales, acceptLanguage = '' } = sources;
  const asked = [locale ?? '', ...(ui_locales ?? '').split(' ')];
  return [...asked, ...parseAcceptLanguage(acceptLanguage)]
    .filter((tag) => TAG.test(tag))
    .slice(0, MAX_TAGS)
    .concat('en');
}

/** RFC 9110, section 12.5.4. */
function parseAcceptLanguage(header: string): string[] {
  return header
    .split(',')
    .map((part) => {
      const [, tag = '', weight = '1'] = /^\s*([^\s;]*)(?:.*?;\s*q=([^\s;]*))?/i.exec(part) ?? [];
      return { tag, weight: Number(weight) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}

export interface LanguageChoice {
  readonly language: string;
  /** The preferred tag that it was chosen for. */
  readonly wanted: string;
}

/**
 * RFC 4647, section 3.4: `de-AT` also finds `de`.
 *
 * @param available - by tags in lower case
 * @returns what is there for the first tag that finds something, and this tag
 */
export function chooseLanguage<Found>(
  preferred: readonly string[],
  available: ReadonlyMap<string, Found>,
): { found: Found; wanted: string } | undefined {
  for (const wanted of preferred) {
    const parts = wanted.toLowerCase().split('-');
    for (let length = parts.length; length > 0; length--) {
      const found = available.get(parts.slice(0, length).join('-'));
      if (found !== undefined) return { found, wanted };
    }
  }
  return undefined;
}

const RIGHT_TO_LEFT = new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Syrc', 'Thaa']);

export function directionOf(language: string): 'ltr' | 'rtl' {
  const { script = '' } = new Intl.Locale(language).maximize();
  return RIGHT_TO_LEFT.has(script) ? 'rtl' : 'ltr';
}
