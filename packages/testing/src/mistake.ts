import { DomainError } from '@latchkey/server';

/** Says to whoever writes the test what was wrong with a call of the test server's. */
export function mistake(failure: unknown): unknown {
  if (!(failure instanceof DomainError)) return failure;
  return new Error(sentence(failure), { cause: failure });
}

function sentence({ code, message, members: { issues = [] } }: DomainError): string {
  if (code === 'grant_not_found') {
    return 'The test server has no such grant. A code becomes a grant, of the same grant_id, when it is converted.';
  }
  if (issues.length === 0) return message;
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join(' ');
}
