import { DomainError, tell } from '@latchkey/domain/domain-error';
import { type ErrorCode, errorDefinition, type ParameterIssue } from '@latchkey/schema';

/** Replace descriptions that speak of headers, a body, or the caller's credentials. */
const texts: { readonly [Code in ErrorCode]?: string } = {
  parameter_invalid: 'Correct the following, and run the command again.',
  secret_limit_reached:
    'This application has 5 secrets that work, which is the maximum. To see when each was last used, run latchkey app get APP_ID. To remove one, run latchkey app secret revoke.',
  application_documented:
    'The application describes itself in a document. Only its scopes, its default scopes, its idle days and its grants per account can be changed here, and it has no secrets. Leave the rest out, and run the command again.',
  key_limit_reached:
    'There are 50 keys that work, which is the maximum. To see when each was last used, run latchkey key list. To delete one, run latchkey key delete.',
  endpoint_limit_reached:
    'The application has 3 endpoints, or the host has 5, which is the maximum. To see them, run latchkey endpoint list. To delete one, run latchkey endpoint delete.',
  endpoint_disabled:
    'Nothing is sent to a disabled endpoint. To see why it is disabled, run latchkey endpoint get. To enable it, run latchkey endpoint update ID --enable.',
  delivery_pending:
    'The delivery is being tried, or is due now. To see how that ends, run latchkey delivery list.',
  grant_not_found:
    'There is no such grant. To see the grants of an account or an application, run latchkey grant list. An unused code is not a grant yet: to cancel it, run latchkey code cancel.',
  link_expired:
    'This link request has expired. Send the browser to the address below. It leads back to the application, where the user can start again.',
  store_unavailable:
    'The database cannot be used, and nothing was changed. If the cause below is temporary, try again in 5 s. Otherwise, run latchkey doctor.',
  store_full:
    'The database is running out of room, and nothing was changed. Make room on its disk: MIN_FREE_MB says how much has to be free. Then run the command again.',
  outcome_unknown:
    'The database failed after the change was sent, so it may or may not have been made. Check with latchkey app list, account get or grant history. If it was not made, run the command again.',
  internal_error: 'The command failed unexpectedly. Please report it with the message below.',
};

export function messageOf(error: unknown): string {
  if (error instanceof DomainError) return errorText(error);
  return `${error instanceof Error ? error.message : String(error)}\n`;
}

export function errorText({ code, members, cause }: DomainError): string {
  const issues = (members.issues ?? []).map((issue) => `  ${nameOf(issue)}: ${issue.message}\n`);
  const back = members.redirect_to === undefined ? '' : `  ${members.redirect_to}\n`;
  const because = cause instanceof Error ? `  ${cause.message}\n` : '';
  return `${code}: ${textOf(code)}\n${issues.join('')}${back}${because}`;
}

/**
 * Of a command that works in parts, and was interrupted. The text of most errors says that nothing was changed.
 *
 * @param done - a sentence
 */
export function afterParts(done: string, cause: Error): Error {
  const why = cause instanceof DomainError ? `${tell(cause)}.` : cause.message;
  return new Error(`${done} Then it failed: ${why} Run the same command again to continue.`, {
    cause,
  });
}

export function textOf(code: ErrorCode): string {
  return texts[code] ?? errorDefinition(code).description;
}

function nameOf({ path: [name = 'input', ...place] }: ParameterIssue): string {
  return [
    `${name}`.replaceAll('_', ' '),
    ...place.map((key) => (typeof key === 'number' ? key + 1 : key)),
  ].join(' ');
}
