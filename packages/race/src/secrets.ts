/** Shorter values are ordinary words. */
const SHORTEST = 6;

/** A parameter that is secret: of a path, or of a URL of any scheme. */
const PARAMETER = /\b(code|state|access_token|refresh_token|id_token|client_secret)=[^\s&#]*/gi;

/** What no output may contain. */
export class Secrets {
  readonly #values = new Set<string>();

  add(...values: readonly (string | null | undefined)[]): void {
    for (const value of values) {
      if (value && value.length >= SHORTEST) {
        this.#values.add(value).add(encodeURIComponent(value));
      }
    }
  }

  /**
   * Takes them out of a text, and everything after the `?` or `#` of a URL, and parameters that are secret;
   * makes it one short line, without what moves a cursor or turns a line.
   */
  clean(text: string): string {
    let cleaned = text;
    for (const value of this.#values) cleaned = cleaned.replaceAll(value, '…');
    return cleaned
      .replaceAll(/(https?:\/\/[^\s?#]*)(?:[?#]\S*)?/g, '$1')
      .replaceAll(PARAMETER, '$1=…')
      .replaceAll(/[\s\p{Cc}\p{Bidi_Control}]+/gu, ' ')
      .trim()
      .slice(0, 200);
  }
}
