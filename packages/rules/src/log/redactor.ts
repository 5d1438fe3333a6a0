import { credentialPattern } from '@latchkey/schema';

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

/** @param secrets - may grow, and never shrinks: a line of what was one may still come */
export function redactorFor(secrets: ReadonlySet<string>): (text: string) => string {
  let { size } = secrets;
  let redact = redactor([...secrets]);
  return (text) => {
    if (secrets.size > size) {
      size = secrets.size;
      redact = redactor([...secrets]);
    }
    return redact(text);
  };
}
