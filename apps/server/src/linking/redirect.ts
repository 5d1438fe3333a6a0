import { type ErrorCode, errorDefinition, uris } from '@latchkey/schema';
import type { DomainError } from '../domain-error.ts';
import type { Linking } from '../service.ts';

/** Where an application waits for its response. */
export interface RedirectTarget {
  redirect_uri: string;
  /** Returned unchanged; null if the application sent none. */
  state: string | null;
}

/**
 * Adds parameters to the query of a URI, which otherwise stays as it was (RFC 6749, section 3.1.2).
 *
 * @param uri - without a fragment
 * @param parameters - null leaves one out
 */
export function addToQuery(uri: string, parameters: Record<string, string | null>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null);
  const added = new URLSearchParams(given as [string, string][]).toString();
  if (added === '') return uri;
  if (!uri.includes('?')) return `${uri}?${added}`;
  return uri.endsWith('?') ? `${uri}${added}` : `${uri}&${added}`;
}

/** Leads the browser to its application with a code (RFC 6749, section 4.1.2; `iss`: RFC 9207). */
export function redirectWithCode(
  { publicUrl }: Linking,
  { redirect_uri, state }: RedirectTarget,
  code: string,
): string {
  return addToQuery(redirect_uri, { code, state, iss: publicUrl });
}

/** Why an application gets no code. */
export interface RedirectedError {
  code: ErrorCode;
  request_id: string;
  /** Default: that of the error table. */
  error?: string;
  /** Default: that of the error table. */
  description?: string;
}

/** Leads the browser to its application with an error (RFC 6749, section 4.1.2.1). */
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

/** What a redirect says of a refusal. Of several issues, it has the name and the message of the first. */
export function refusalInWords({ code, members }: DomainError): Partial<RedirectedError> {
  const [issue] = members.issues ?? [];
  if (code !== 'parameter_invalid' || issue === undefined) return {};
  return { description: `${issue.path.join('.')}: ${issue.message}` };
}

/**
 * Where a redirect URI leads, in words for a person: its host, or the scheme of an application.
 *
 * @param redirect_uri - a registered one, but for the port: no browser may know it, such as 99999
 */
export function redirectHost(redirect_uri: string): string {
  const parts = uris.splitUri(redirect_uri);
  // It matched what was registered, so it has a host or a scheme of the application's own.
  if (parts === null)
    throw new Error('A redirect URI was kept that could not have been registered.');
  return parts.host === null || parts.scheme.includes('.') ? parts.scheme : parts.host;
}
