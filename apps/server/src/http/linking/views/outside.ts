import type { StrangersAddress } from '@latchkey/rules/linking/redirect';
import { type Html, html } from '../../html.ts';
import type { PageTexts } from '../text-catalog.ts';

/** `<bdi>` isolates text from outside, so that its direction cannot reorder the words around it. */
export function outside(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

export function strongOutside(text: string): Html {
  return html`<bdi class="strong">${text}</bdi>`;
}

export function homepageLink(url: string): Html {
  return outsideLink(url, outside(new URL(url).host));
}

/** The other site does not learn the address of the page. */
export function outsideLink(url: string, content: Html, style: string | null = null): Html {
  return html`<a${style && html` class="${style}"`} href="${url}" rel="noreferrer">${content}</a>`;
}

/** The one way to a stranger: a link that names where it leads. */
export function returnLink(address: StrangersAddress, texts: PageTexts): Html {
  const content = texts.of('return.link', { target: targetIn(address, texts) });
  return outsideLink(address.href, content, 'button calm');
}

export const targetIn = ({ target }: StrangersAddress, texts: PageTexts): Html =>
  target === null ? texts.of('return.device') : outside(target);
