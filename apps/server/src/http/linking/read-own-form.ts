import { DomainError } from '../../domain-error.ts';
import { readBody } from '../body.ts';
import { type Form, parseForm } from '../form.ts';
import type { RequestContext } from '../request-context.ts';

/**
 * Reads a form, unless the browser says that another site has sent it.
 *
 * @param origin - that of PUBLIC_URL
 * @throws DomainError `media_type_unsupported`, `body_too_large`, `form_rejected`, `body_malformed`;
 *   ClientGone
 */
export async function readOwnForm(context: RequestContext, origin: string): Promise<Form> {
  const body = await readBody(context, ['form']);
  const { headers } = context.request;
  // Fetch Metadata, section 2.3. A browser that does not know it sends an Origin.
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') {
    throw DomainError.because('form_of_another_site');
  }
  // Some privacy settings turn every Origin into null, so that null says nothing.
  if (headers.origin !== undefined && headers.origin !== 'null' && headers.origin !== origin) {
    throw DomainError.because('form_of_another_origin');
  }
  return parseForm(body?.bytes ?? Buffer.alloc(0));
}
