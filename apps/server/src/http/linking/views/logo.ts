import { type Html, html } from '../../html.ts';
import { mainPartOf, outside } from './outside.ts';

export interface LogoOwner {
  readonly name: string;
  /** Of an application with a document. */
  readonly host?: string | null;
  /** It has a picture of its own: no letters tell it from another one. */
  readonly device?: 'loopback' | 'app' | null;
  readonly logo_uri: string | null;
}

// Characters that cannot end a source expression (CSP Level 3, section 2.3.1). RFC 3986 allows
// others, such as the semicolon.
const HTTPS_ORIGIN = /^https:\/\/[a-z0-9._-]+(?::\d+)?$/;

export function logoOrigin(logo: string | null): string | null {
  if (logo === null || !URL.canParse(logo)) return null;
  const { origin } = new URL(logo);
  return HTTPS_ORIGIN.test(origin) ? origin : null;
}

export function logo({ name, host = null, device = null, logo_uri }: LogoOwner, shape = ''): Html {
  if (device !== null) {
    return html`<span class="logo device${shape && ` ${shape}`}" aria-hidden="true"></span>`;
  }
  const isShown = logo_uri !== null && (logo_uri.startsWith('data:') || logoOrigin(logo_uri));
  const image = isShown ? html`<img src="${logo_uri}" alt="">` : null;
  return html`<span class="logo${shape && ` ${shape}`}" aria-hidden="true">${outside(initials(host === null ? name : mainPartOf(host)))}${image}</span>`;
}

/** Says by its picture what a page is: the text has to say it too. */
export const badge = (tone: 'caution' | 'danger' | 'done'): Html =>
  html`<span class="tone ${tone}"></span>`;

export function initials(name: string): string {
  const letters = name
    .split(/\s+/u)
    .map((word) => /[\p{L}\p{N}]/u.exec(word)?.[0])
    .filter((letter) => letter !== undefined);
  return letters.slice(0, 2).join('').toUpperCase() || '•';
}
