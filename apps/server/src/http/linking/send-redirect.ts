import type { Location } from '../../linking/redirect.ts';
import type { Headers, RequestContext } from '../request-context.ts';
import { send } from '../response.ts';

/** The browser follows with GET (RFC 9700, section 4.12). Its address may be secret: no Referer. */
export function sendRedirect(context: RequestContext, location: Location, headers?: Headers): void {
  send(context, 303, 'text/plain; charset=UTF-8', '', {
    Location: location,
    'Referrer-Policy': 'no-referrer',
    ...headers,
  });
}
