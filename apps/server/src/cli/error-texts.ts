import { type ErrorCode, errorDefinition, type ParameterIssue } from '@latchkey/schema';
import type { DomainError } from '../domain-error.ts';

/** Replace descriptions that speak of headers, a body, or the caller's credentials. */
const texts: { readonly [Code in ErrorCode]?: string } = {
  parameter_invalid: 'Correct what follows, and run the command again.',
  secret_limit_reached:
    'This application has 5 secrets that work, which is the maximum. latchkey app get APP_ID shows when each was last used; remove one with latchkey app secret revoke.',
  grant_not_found:
    'There is no such grant. latchkey grant list shows the grants of an account or an application. An unused code is no grant yet: latchkey code cancel ends it. Once it is used, latchkey grant revoke does.',
  link_expired:
    'This link request has expired. Send the browser to the address below, which leads back to the application. There the user can start again.',
  store_unavailable:
    'The database cannot be used, and nothing was changed. If the cause below may pass by itself, try again in 5 s. Otherwise latchkey doctor says what to do.',
  outcome_unknown:
    'The database failed after the change was sent, so it is not known whether it was made. Look first, with latchkey app list, account get or grant history; if it was not, run the command again.',
  internal_error: 'The command failed unexpectedly. Please report it, with what follows.',
};

export function errorText({ code, members, cause }: DomainError): string {
  const issues = (members.issues ?? []).map((issue) => `  ${nameOf(issue)}: ${issue.message}\n`);
  const back = members.redirect_to === undefined ? '' : `  ${members.redirect_to}\n`;
  const because = cause instanceof Error ? `  ${cause.message}\n` : '';
  return `${code}: ${textOf(code)}\n${issues.join('')}${back}${because}`;
}

export function textOf(code: ErrorCode): string {
  return texts[code] ?? errorDefinition(code).description;
}

const optionNames: Record<string, string> = {
  expires_at: '--expires',
  display_name: '--display-name',
  redirect_uris: '--redirect-uri',
  scopes: '--scope',
  logo_uri: '--logo',
  homepage_uri: '--homepage',
  return_url: '--return-url',
};

function nameOf({ path: [name = 'input', ...place] }: ParameterIssue): string {
  const words = optionNames[String(name)] ?? String(name).replaceAll('_', ' ');
  return [words, ...place.map((key) => (typeof key === 'number' ? key + 1 : key))].join(' ');
}
