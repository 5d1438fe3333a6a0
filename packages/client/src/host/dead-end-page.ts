import type { HttpResponse } from '../frameworks/http.ts';
import { page } from '../frameworks/page.ts';

/**
 * Why a user can't go on:
 *
 * - `link_decided`: the user has already allowed or denied the link
 * - `link_not_found`: the link is cut short, too old, or over
 * - `form_rejected`: the form does not come from a page of this host
 */
export type DeadEnd = 'link_decided' | 'link_not_found' | 'form_rejected';

const texts: Record<DeadEnd, readonly [status: number, title: string, text: string]> = {
  link_decided: [
    409,
    'Already answered',
    'You have already answered this request. You can close this page.',
  ],
  link_not_found: [
    404,
    'This link does not work',
    'This link does not work any more. Start again in the application that you came from.',
  ],
  form_rejected: [
    403,
    'Nothing was done',
    'Your browser sent this form from another page. Go back, load the page again, and repeat it.',
  ],
};

/** A page that says why the user can't go on, and leads to the host's start page. */
export function deadEndPage(reason: DeadEnd, home: string): HttpResponse {
  const [status, title, text] = texts[reason];
  // The address is a URL, in which quotes and angle brackets are encoded.
  const link = `<a href="${home.replaceAll('&', '&amp;')}">Go on</a>`;
  return page(status, title, `${text}</p><p>${link}`, "; frame-ancestors 'none'");
}
