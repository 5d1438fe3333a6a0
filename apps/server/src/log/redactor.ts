import { credentialPattern } from '@latchkey/schema';
import { percentDecode } from '../percent-decode.ts';
import type { Settings } from '../settings.ts';

const REDACTED = '[redacted]';
// The start of every prefix. Most lines are searched once instead of once per prefix.
const ANY_PREFIX = 'lk_';
/** The secret of an endpoint. */
const endpointSecretPattern = /whsec_[\w+/]{43}=/g;

export function redactor(secrets: readonly string[]): (line: string) => string {
  const exact = secrets.flatMap((secret) => {
    // A message may contain it escaped for JSON or as it is.
    const escaped = JSON.stringify(secret).slice(1, -1);
    return secret === escaped ? [secret] : [escaped, secret];
  });
  // One may be the beginning of another.
  exact.sort((one, other) => other.length - one.length);
  return (line) => {
    let clean = line;
    if (line.includes(ANY_PREFIX)) clean = clean.replace(credentialPattern, REDACTED);
    if (line.includes('whsec_')) clean = clean.replace(endpointSecretPattern, REDACTED);
    for (const secret of exact) clean = clean.replaceAll(secret, REDACTED);
    return clean;
  };
}

// A shorter password would black out half of the log, and its gaps would reveal it.
const SHORTEST_REDACTED_PASSWORD = 8;

export type SecretSettings = Pick<
  Settings,
  'adminSecret' | 'adminSecretPrevious' | 'eventsKey' | 'eventsKeyPrevious' | 'databaseUrl'
>;

/** Follows secrets that SIGHUP replaces. What was one stays one: a line of it may still come. */
export function redactorFor(settings: SecretSettings): (text: string) => string {
  const known = new Set(passwordsOf(settings));
  let redact = redactor([...known]);
  return (text) => {
    const { adminSecret, adminSecretPrevious, eventsKey, eventsKeyPrevious } = settings;
    const size = known.size;
    for (const secret of [adminSecret, adminSecretPrevious, eventsKey, eventsKeyPrevious]) {
      if (secret !== null) known.add(secret);
    }
    if (known.size > size) redact = redactor([...known]);
    return redact(text);
  };
}

/** The address as a whole, its part before the host, and the password alone. */
function passwordsOf({ databaseUrl }: SecretSettings): string[] {
  const [, start] = /^([a-z+]+:\/\/.*@)/s.exec(databaseUrl) ?? [];
  if (start === undefined) return [];
  const [, encoded = ''] = /^[a-z+]+:\/\/[^@/]*?:([^@]+)@/.exec(start) ?? [];
  const passwords = [encoded, percentDecode(encoded)];
  return [
    ...[databaseUrl, start],
    ...passwords.filter((password) => password.length >= SHORTEST_REDACTED_PASSWORD),
  ];
}
