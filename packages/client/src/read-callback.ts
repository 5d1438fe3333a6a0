import {
  IssuerMismatchError,
  LinkDeniedError,
  LinkFailedError,
  StateMismatchError,
} from './errors.ts';
import type { FinishLinkingOptions } from './options.ts';
import { redactor } from './redact.ts';
import { isSameText } from './same-text.ts';

/**
 * Reads the callback of a link. Checks that it belongs to this browser (RFC 6749, section 10.12) and
 * comes from this service (RFC 9207).
 *
 * @param callbackUrl - the whole address, or its path and query
 * @returns the code
 */
export function readCallback(
  callbackUrl: string | URL,
  { state, codeVerifier }: FinishLinkingOptions,
  publicUrl: URL,
): string {
  // Not parsed as a URL: the error for one that is not valid would show the code.
  const parameters = new URLSearchParams(String(callbackUrl).replace(/^[^?]*/, ''));
  /** A parameter that occurs exactly once (RFC 6749, section 3.1); undefined otherwise. */
  const once = (name: string) => {
    const [value, ...others] = parameters.getAll(name);
    return others.length === 0 ? value : undefined;
  };

  if (!state || !isSameText(once('state') ?? '', state)) {
    throw new StateMismatchError(
      'This callback does not belong to a link that this browser began, or it was used before. Let the user start again.',
    );
  }
  if (!isIssuer(once('iss') ?? '', publicUrl)) {
    throw new IssuerMismatchError(
      `This callback does not come from ${publicUrl.href}. If it happens to every user, set publicUrl to the PUBLIC_URL of the service.`,
    );
  }
  const code = once('code');
  const redact = redactor([state, codeVerifier, code ?? '']);
  const said = (name: string) => {
    const value = once(name);
    // Anything else is not from Latchkey, and could forge a line of a log.
    return value && /^[\x20-\x7e]+$/.test(value) ? redact(value) : undefined;
  };
  const error = said('error');
  if (code && !error) return code;

  const details = {
    error_code: said('error_code'),
    error_uri: said('error_uri'),
    request_id: said('request_id'),
  };
  const message = said('error_description');
  throw error === 'access_denied'
    ? new LinkDeniedError(message ?? 'The user did not allow the link.', details)
    : new LinkFailedError(message ?? 'The callback has neither a code nor an error.', {
        ...details,
        error,
      });
}

/** A slash at the end makes no difference, as in `publicUrl`. */
const isIssuer = (iss: string, publicUrl: URL) =>
  URL.canParse(iss) && ['', '/'].some((end) => new URL(iss).href + end === publicUrl.href);
