import { credentialPattern } from '@latchkey/schema';

/** Replaces credentials in a text by `[redacted]`. */
export type Redact = (text: string) => string;

// A shorter text is no credential, and replacing it would garble the message.
const SHORTEST_SECRET = 8;

/**
 * Makes a function that redacts the given secrets, and everything else that looks like a credential.
 * The secrets are given because a mistyped one does not match the pattern of a credential.
 */
export function redactor(secrets: readonly string[]): Redact {
  const literals = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  return (text) =>
    literals
      .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
      .replace(credentialPattern, '[redacted]');
}
