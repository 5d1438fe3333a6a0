import { credentialPattern } from '@latchkey/schema';

const REDACTED = '[redacted]';
// The start of every prefix. Most lines are searched once instead of once per prefix.
const ANY_PREFIX = 'lk_';
/** The secret of an endpoint. */
const endpointSecretPattern = /whsec_[\w+/]{43}=/g;

/** @param secrets - may grow, and never shrinks: a line of what was one may still come */
export function redactorFor(secrets: ReadonlySet<string>): (text: string) => string {
  let size = 0;
  let exact: string[] = [];
  return (text) => {
    if (secrets.size > size) {
      size = secrets.size;
      exact = formsOf(secrets);
    }
    let clean = text;
    if (text.includes(ANY_PREFIX)) clean = clean.replace(credentialPattern, REDACTED);
    if (text.includes('whsec_')) clean = clean.replace(endpointSecretPattern, REDACTED);
    for (const secret of exact) clean = clean.replaceAll(secret, REDACTED);
    return clean;
  };
}

function formsOf(secrets: ReadonlySet<string>): string[] {
  // A message may contain one escaped for JSON or as it is.
  const escaped = [...secrets].map((secret) => JSON.stringify(secret).slice(1, -1));
  // One may be the beginning of another.
  return [...new Set([...secrets, ...escaped])].sort((one, other) => other.length - one.length);
}
