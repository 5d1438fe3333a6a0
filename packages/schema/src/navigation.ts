const PURPOSES = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'] as const;

/** The headers that say what a browser requests a page for. */
export const navigationHeaders = ['sec-fetch-mode', 'sec-fetch-dest', ...PURPOSES] as const;

/** A header of {@link navigationHeaders}. */
export type NavigationHeader = (typeof navigationHeaders)[number];

/**
 * Returns what a page is requested for. Otherwise images, frames and prefetches on any web page would use up
 * what belongs to the person: the limit of an address, a ticket, the cookies of links that were begun.
 *
 * - `navigation`: a person navigates a tab, perhaps through a service worker (`empty`); or a program walks
 *   the flow. Old browsers and most programs send no such header. Node's `fetch` sends `cors` without a
 *   destination, a pair that no browser sends.
 * - `prefetch`: nobody has followed the link yet
 * - `part`: an image, a frame, a script, or a request of a page's own script
 *
 * Sources: Fetch Metadata, sections 2.1 and 2.2; `Sec-Purpose` of Fetch, section 3.7. The other names are older.
 *
 * @param header - returns a header by its name in lower case; nothing if there is none
 */
export function navigationOf(
  header: (name: NavigationHeader) => string | readonly string[] | null | undefined,
): 'navigation' | 'prefetch' | 'part' {
  const isEarly = PURPOSES.some((name) =>
    /\b(?:prefetch|prerender|preview)\b/i.test(`${header(name) ?? ''}`),
  );
  if (isEarly) return 'prefetch';
  const mode = header('sec-fetch-mode') ?? '';
  const destination = header('sec-fetch-dest') ?? '';
  const pairs = ['navigate document', 'navigate empty', ' ', ' document', 'cors '];
  return pairs.includes(`${mode} ${destination}`) ? 'navigation' : 'part';
}
