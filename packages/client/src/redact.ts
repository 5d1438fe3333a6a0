import { credentialPattern } from '@latchkey/schema';

/** Blacks out credentials in a text. */
export type Redact = (text: string) => string;

// Shorter than this is no credential, and would black out half of any text.
const SHORTEST_SECRET = 8;

/**
 * Makes a function that blacks out the given secrets, and everything else that looks like a
 * credential. The secrets are given too, since one that was cut short looks like none.
 */
export function redactor(secrets: readonly string[]): Redact {
  const literals = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  return (text) =>
    literals
      .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
      .replace(credentialPattern, '[redacted]');
}
