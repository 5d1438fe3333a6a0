import { credentialPattern } from '@latchkey/schema';
import { percentDecode } from '../percent-decode.ts';
import type { Settings } from '../settings.ts';

const REDACTED = '[redacted]';
// The start of every prefix. Most lines are searched once instead of once per prefix.
const ANY_PREFIX = 'lk_';

export function redactor(secrets: readonly string[]): (line: string) => string {
  const exact = secrets.flatMap((secret) => {
    // A message may contain it escaped for JSON or as it is.
    const escaped = JSON.stringify(secret).slice(1, -1);
    return secret === escaped ? [secret] : [escaped, secret];
  });
  return (line) => {
    let clean = line;
    if (line.includes(ANY_PREFIX)) clean = clean.replace(credentialPattern, REDACTED);
    for (const secret of exact) clean = clean.replaceAll(secret, REDACTED);
    return clean;
  };
}

// A shorter password would black out half of the log, and its gaps would reveal it.
const SHORTEST_REDACTED_PASSWORD = 8;

export type SecretSettings = Pick<Settings, 'adminSecret' | 'adminSecretPrevious' | 'databaseUrl'>;

/** Follows secrets that SIGHUP replaces. What was one stays one: a line of it may still come. */
export function redactorFor(settings: SecretSettings): (text: string) => string {
  const known = new Set<string>();
  let redact = redactor([]);
  let [current, previous]: (string | null | undefined)[] = [];
  return (text) => {
    const { adminSecret, adminSecretPrevious } = settings;
    if (current !== adminSecret || previous !== adminSecretPrevious) {
      [current, previous] = [adminSecret, adminSecretPrevious];
      for (const secret of secretsOf(settings)) known.add(secret);
      redact = redactor([...known]);
    }
    return redact(text);
  };
}

function secretsOf({ adminSecret, adminSecretPrevious, databaseUrl }: SecretSettings): string[] {
  const [, encoded = ''] = /^[a-z+]+:\/\/[^@/]*?:([^@]+)@/.exec(databaseUrl) ?? [];
  const passwords = [...new Set([encoded, percentDecode(encoded)])];
  return [
    ...[adminSecret, adminSecretPrevious].filter((secret) => secret !== null),
    ...passwords.filter((password) => password.length >= SHORTEST_REDACTED_PASSWORD),
  ];
}
