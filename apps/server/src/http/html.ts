const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for an element or a quoted attribute. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] as string);
}

/** Markup. Only {@link html} makes it, so a text can't become markup by accident. */
class Html {
  readonly #markup: string;

  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

export type { Html };

/** What a template takes. Texts are escaped, lists are joined, null leaves nothing. */
export type HtmlValue = Html | string | number | null | readonly HtmlValue[];

function render(value: HtmlValue): string {
  if (value === null) return '';
  if (value instanceof Html) return value.toString();
  if (typeof value === 'object') return value.map(render).join('');
  return escapeHtml(String(value));
}

/** Markup from a template. Attributes have to be in double quotes. */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): Html {
  const markup = strings.reduce((text, part, i) => text + render(values[i - 1] ?? null) + part);
  return new Html(markup);
}

/**
 * A text with markup in the place of each match.
 *
 * @param pattern - global, with one group
 * @param replacement - gets what the group matched
 */
export function replaceInText(
  text: string,
  pattern: RegExp,
  replacement: (group: string) => HtmlValue,
): Html {
  // With a group in the pattern, every second part is what the group matched.
  return html`${text.split(pattern).map((part, i) => (i % 2 === 0 ? part : replacement(part)))}`;
}
