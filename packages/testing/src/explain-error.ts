import { DomainError } from '@latchkey/server/testing';

/** Turns an error of the service into one that tells the author of a test what to fix. */
export function explainError(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error;
  return new Error(explanation(error), { cause: error });
}

const explanation = ({ code, message }: DomainError): string =>
  code === 'grant_not_found'
    ? 'The test server has no such grant. Convert the code first: it becomes a grant with the same grant_id.'
    : message;
