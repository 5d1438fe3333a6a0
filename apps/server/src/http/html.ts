const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] as string);
}

/** Only {@link html} makes it, so text cannot become markup by accident. */
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

export type HtmlValue = Html | string | number | null | readonly HtmlValue[];

function render(value: HtmlValue): string {
  if (value === null) return '';
  if (value instanceof Html) return value.toString();
  if (typeof value === 'object') return value.map(render).join('');
  return escapeHtml(String(value));
}

/** Attributes must be in double quotes. */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(render)));
}

export function replaceInText(
  text: string,
  pattern: RegExp,
  replacement: (group: string) => HtmlValue,
): Html {
  // The pattern has one group, so every second part is what the group matched.
  return html`${text.split(pattern).map((part, i) => (i % 2 === 0 ? part : replacement(part)))}`;
}
