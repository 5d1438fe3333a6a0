import { isIP } from 'node:net';
import type { StrangersAddress } from '@latchkey/rules/linking/redirect';
import { type Html, html } from '../../html.ts';
import type { PageTexts } from '../text-catalog.ts';
import type { ShownName } from './page.ts';

/** `<bdi>` isolates text from outside, so that its direction cannot reorder the words around it. */
export function outside(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

/** Of a resource, which the operator has registered. */
export const hostAndPort = (address: string): string => new URL(address).host;

export function strongOutside(text: string): Html {
  return html`<bdi class="strong">${text}</bdi>`;
}

/**
 * What tells whose a host is: its last two labels, or three under one such as `co.uk`. One too many does no
 * harm, and a list of public suffixes would need updates.
 */
export function mainPartOf(host: string): string {
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0) return host;
  // A name may end with a dot.
  const end = host.endsWith('.') ? '.' : '';
  const labels = host.slice(0, host.length - end.length).split('.');
  const [second = '', top = ''] = labels.slice(-2);
  const count = /^[a-z]{2}$/.test(top) && second.length <= 3 ? 3 : 2;
  return labels.slice(-count).join('.') + end;
}

/** All of a host, at every width: its end says whose it is. */
export function shownHost(host: string): Html {
  const main = mainPartOf(host);
  const before = host.slice(0, host.length - main.length);
  return html`<bdi>${before}<strong>${main}</strong></bdi>`;
}

const LONG_WORD = /[\p{L}\p{M}\p{N}]{20}/u;

/** A long word breaks anywhere by a rule of its own: the last resort of browsers would part it from its full stop. */
export function named(name: string): Html {
  const text = outside(name);
  return LONG_WORD.test(name) ? html`<span class="unbroken">${text}</span>` : text;
}

const letters = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** A longer name would fill a title. */
const MOST_IN_TITLE = 40;

/**
 * What an application is called. The name of one that no operator registered is only a claim.
 *
 * @param place - `alone`: nothing beside it says what it calls itself
 */
export function whoIs(
  shown: ShownName,
  texts: PageTexts,
  place: 'title' | 'sentence' | 'alone' = 'sentence',
): Html {
  const { name, host, device } = shown;
  if (host !== null && device != null) {
    const who =
      device === 'app'
        ? texts.of('name.device.app', { scheme: strongOutside(host) })
        : texts.of('name.device');
    const claim = place === 'alone' ? claimOf(shown, texts) : null;
    return claim === null ? who : texts.of('name.device.claimed', { device: who, name: claim });
  }
  if (host !== null) return shownHost(host);
  if (place !== 'title') return named(name);
  const found = [...letters.segment(name)];
  const isCut = found.length > MOST_IN_TITLE;
  return named(isCut ? `${name.slice(0, found[MOST_IN_TITLE - 1]?.index)}…` : name);
}

/** {@link whoIs} in the title of a document. */
export function plainlyWho({ name, host, device }: ShownName, texts: PageTexts): string {
  if (host === null) return name;
  if (device == null) return host;
  return device === 'app'
    ? texts.plain('name.device.app', { scheme: host })
    : texts.plain('name.device');
}

/** What an application calls itself, in quotation marks, and marked: some letters look like one that closes. */
export function claimOf({ claim }: ShownName, texts: PageTexts): Html | null {
  if (claim == null) return null;
  return html`<span class="claim">${texts.of('name.claimed', { name: named(claim) })}</span>`;
}

export function homepageLink(url: string): Html {
  return outsideLink(url, shownHost(new URL(url).hostname));
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
  target === null
    ? texts.of('return.device')
    : target.endsWith(':')
      ? outside(target)
      : shownHost(target);
