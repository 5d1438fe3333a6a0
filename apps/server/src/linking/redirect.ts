import { type ErrorCode, errorDefinition, type LinkRequest, uris } from '@latchkey/schema';
import type { DomainError } from '../domain-error.ts';
import type { Linking } from '../service.ts';

export interface RedirectTarget {
  redirect_uri: string;
  state: string | null;
}

/** Keeps the existing query (RFC 6749, section 3.1.2). */
export function addToQuery(uri: string, parameters: Record<string, string | null>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null);
  const added = new URLSearchParams(given as [string, string][]).toString();
  if (added === '') return uri;
  if (!uri.includes('?')) return `${uri}?${added}`;
  return uri.endsWith('?') ? `${uri}${added}` : `${uri}&${added}`;
}

/** RFC 6749, section 4.1.2; `iss`: RFC 9207. */
export function redirectWithCode(
  { publicUrl }: Linking,
  { redirect_uri, state }: RedirectTarget,
  code: string,
): string {
  return addToQuery(redirect_uri, { code, state, iss: publicUrl });
}

export interface RedirectedError {
  code: ErrorCode;
  request_id: string;
  error?: string;
  description?: string;
}

/** RFC 6749, section 4.1.2.1. */
export function redirectWithError(
  { publicUrl }: Linking,
  { redirect_uri, state }: RedirectTarget,
  { code, request_id, ...words }: RedirectedError,
): string {
  const { error, description } = errorDefinition(code);
  return addToQuery(redirect_uri, {
    error: words.error ?? error,
    error_description: words.description ?? description,
    error_code: code,
    error_uri: `${publicUrl}/docs/errors#${code}`,
    request_id,
    state,
    iss: publicUrl,
  });
}

export function refusalInWords({ code, members }: DomainError): Partial<RedirectedError> {
  const [issue] = members.issues ?? [];
  if (code !== 'parameter_invalid' || issue === undefined) return {};
  return { description: `${issue.path.join('.')}: ${issue.message}` };
}

/** The host, or the scheme of a native application. The port may be invalid, such as 99999. */
export function describeRedirect(
  redirect_uri: string,
): Pick<LinkRequest, 'redirect_host' | 'redirect_kind'> {
  const parts = uris.splitUri(redirect_uri);
  if (parts === null) throw new Error('The redirect URI of a link request is not a URI.');
  const { scheme, host } = parts;
  if (host === null || !/^https?$/.test(scheme)) {
    return { redirect_host: scheme, redirect_kind: 'app' };
  }
  return { redirect_host: host, redirect_kind: uris.isLoopback(parts) ? 'loopback' : 'web' };
}
