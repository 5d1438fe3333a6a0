import { type Html, html } from '../../html.ts';

/**
 * A text from outside: a name, a description, an address. `<bdi>` keeps its direction to itself, so
 * that it can't reorder the words around it.
 */
export function outside(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

/** The same, emphasized. */
export function strongOutside(text: string): Html {
  return html`<bdi class="strong">${text}</bdi>`;
}

/** A link to outside. The site that it leads to does not learn the address of the page. */
export function outsideLink(url: string, content: Html, style: string | null = null): Html {
  return html`<a${style && html` class="${style}"`} href="${url}" rel="noreferrer">${content}</a>`;
}
