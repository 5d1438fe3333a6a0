import { isUtf8 } from 'node:buffer';
import { DomainError } from '@latchkey/domain/domain-error';
import { readBody } from './body.ts';
import type { RequestContext } from './request-context.ts';

export type Form = ReadonlyMap<string, readonly string[]>;

/** Refuses what WHATWG's parser would repair: two readers could read a broken form differently. */
export function parseForm(bytes: Buffer): Form {
  if (!isUtf8(bytes)) throw new DomainError('body_malformed');
  const form = new Map<string, string[]>();
  for (const pair of bytes.toString().split('&')) {
    const [name = '', value = ''] = pair.split(/=(.*)/s, 2).map(decode);
    if (value === '') continue;
    const values = form.get(name);
    if (values === undefined) form.set(name, [value]);
    else values.push(value);
  }
  return form;
}

/** Ignores unknown parameters and refuses repeated ones (RFC 6749, section 3.2). */
export function formMembers<Name extends string>(
  form: Form,
  names: readonly Name[],
): { [Member in Name]?: string } {
  const members: { [Member in Name]?: string } = {};
  const issues: { path: string[]; message: string }[] = [];
  for (const name of names) {
    const [value, ...others] = form.get(name) ?? [];
    if (others.length > 0) issues.push({ path: [name], message: 'Must be given only once.' });
    else if (value !== undefined) members[name] = value;
  }
  if (issues.length > 0) throw new DomainError('parameter_invalid', { issues });
  return members;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new DomainError('body_malformed');
  }
}

/** Refuses a form that another site sent. */
export async function readOwnForm(context: RequestContext, origin: string): Promise<Form> {
  const body = await readBody(context, ['form']);
  const { headers } = context.request;
  // Fetch Metadata, section 2.3. Browsers without it send an Origin.
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') {
    throw DomainError.because('form_of_another_site');
  }
  // With some privacy settings, browsers always send `Origin: null`, so `null` proves nothing.
  if (headers.origin !== undefined && headers.origin !== 'null' && headers.origin !== origin) {
    throw DomainError.because('form_of_another_origin');
  }
  return parseForm(body?.bytes ?? Buffer.alloc(0));
}
