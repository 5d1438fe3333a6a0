import { DomainError } from '../../domain-error.ts';
import { readBody } from '../body.ts';
import { type Form, parseForm } from '../form.ts';
import type { RequestContext } from '../request-context.ts';

/** Refuses a form that another site sent. */
export async function readOwnForm(context: RequestContext, origin: string): Promise<Form> {
  const body = await readBody(context, ['form']);
  const { headers } = context.request;
  // Fetch Metadata, section 2.3. Browsers without it send an Origin.
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') {
    throw DomainError.because('form_of_another_site');
  }
  // Some privacy settings send `null` as every Origin, so `null` proves nothing.
  if (headers.origin !== undefined && headers.origin !== 'null' && headers.origin !== origin) {
    throw DomainError.because('form_of_another_origin');
  }
  return parseForm(body?.bytes ?? Buffer.alloc(0));
}
