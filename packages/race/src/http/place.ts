/** A URL without its parameters, in normal form; null if the text is no URL. */
export const placeOf = (text: string): string | null =>
  URL.canParse(text) ? (new URL(text).href.split(/[?#]/)[0] ?? null) : null;
