import type { Headers, RequestContext } from '../request-context.ts';
import { send } from '../response.ts';

/** Always GET (RFC 9700, section 4.12). No Referer: the address may contain a code or a link. */
export function sendRedirect(context: RequestContext, location: string, headers?: Headers): void {
  send(context, 303, 'text/plain; charset=UTF-8', '', {
    Location: location,
    'Referrer-Policy': 'no-referrer',
    ...headers,
  });
}
