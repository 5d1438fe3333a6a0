import type { Headers, RequestContext } from '../request-context.ts';
import { send } from '../response.ts';

/**
 * Leads the browser on, always with GET (RFC 9700, section 4.12). The address may have a code or a
 * link in it, so the next page does not learn where the browser came from.
 */
export function sendRedirect(context: RequestContext, location: string, headers?: Headers): void {
  send(context, 303, 'text/plain; charset=UTF-8', '', {
    Location: location,
    'Referrer-Policy': 'no-referrer',
    ...headers,
  });
}
