import { DomainError } from '@latchkey/server/testing';

/** Turns an error of the service into one that tells the author of a test what to fix. */
export function explainError(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error;
  return new Error(explanation(error), { cause: error });
}

function explanation({ code, message, members: { issues = [] } }: DomainError): string {
  if (code === 'grant_not_found') {
    return 'The test server has no such grant. Convert the code first: it becomes a grant with the same grant_id.';
  }
  if (issues.length === 0) return message;
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join(' ');
}
