/** The response of a route. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Nothing that a request brought is kept: its address may have a link or a code in it. */
export const answer = (
  status: number,
  headers: Record<string, string> = {},
  body = '',
): HttpResponse => ({
  status,
  headers: { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer', ...headers },
  body,
});

/** Sends the browser to an address, which stays as it is written. */
export const redirect = (location: string): HttpResponse => answer(303, { Location: location });
