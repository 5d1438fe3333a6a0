import { type Html, html } from '../../html.ts';
import { outside } from './outside.ts';

/** Whoever has a logo: the host service or an application. */
export interface LogoOwner {
  readonly name: string;
  readonly logo_uri: string | null;
}

// The characters of a host that can't end the source expression it becomes part of (CSP Level 3,
// section 2.3.1). RFC 3986 allows others, such as the semicolon.
const HTTPS_ORIGIN = /^https:\/\/[a-z0-9._-]+(?::\d+)?$/;

/**
 * The origin that the policy of a page has to name for a logo.
 *
 * @returns null if it needs none, or can't have one
 */
export function logoOrigin(logo: string | null): string | null {
  if (logo === null || !URL.canParse(logo)) return null;
  const { origin } = new URL(logo);
  return HTTPS_ORIGIN.test(origin) ? origin : null;
}

/** The logo of its owner. Under it are the initials, for one that is missing or does not load. */
export function logo({ name, logo_uri }: LogoOwner, shape = ''): Html {
  const isShown = logo_uri !== null && (logo_uri.startsWith('data:') || logoOrigin(logo_uri));
  const image = isShown ? html`<img src="${logo_uri}" alt="">` : null;
  return html`<span class="logo${shape && ` ${shape}`}" aria-hidden="true">${outside(initials(name))}${image}</span>`;
}

/** The first letters of the first two words of a name; a dot if it has no letter. */
export function initials(name: string): string {
  const letters = name
    .split(/\s+/u)
    .map((word) => /[\p{L}\p{N}]/u.exec(word)?.[0])
    .filter((letter) => letter !== undefined);
  return letters.slice(0, 2).join('').toUpperCase() || '•';
}
