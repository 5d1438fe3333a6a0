/** The response of a route. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

// The address that was requested may have a link or a code in it.
const commonHeaders = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };

/** Sends the browser to an address, which stays as it is written. */
export const redirect = (location: string): HttpResponse => ({
  status: 303,
  headers: { ...commonHeaders, Location: location },
  body: '',
});

/** Shows nothing to anybody. */
export const empty = (status: number): HttpResponse => ({
  status,
  headers: commonHeaders,
  body: '',
});

/** What a {@link page} has on it. */
interface PageContent {
  title: string;
  text: string;
  /** A URL, in which quotes and angle brackets are encoded. */
  href: string;
  /** The start tag of the link after its address. */
  attributes?: string;
  label: string;
  /** More directives of its `Content-Security-Policy`. */
  policy?: string;
}

/** A page with one link. */
export const page = (
  status: number,
  { title, text, href, attributes = '', label, policy = '' }: PageContent,
): HttpResponse => ({
  status,
  headers: {
    ...commonHeaders,
    'Content-Type': 'text/html; charset=UTF-8',
    'Content-Security-Policy': `default-src 'none'${policy}`,
  },
  body: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<body><h1>${title}</h1><p>${text}</p><p><a href="${href.replaceAll('&', '&amp;')}"${attributes}>${label}</a></p></body></html>
`,
});
