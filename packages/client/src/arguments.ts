import { type CredentialKind, credentialPrefixes, isUuid } from '@latchkey/schema';
import { InvalidRequestError } from './errors.ts';

// Refuses only arguments that are certainly mixed up. The service decides whether a code or a secret
// is valid, because a newer service may use other formats.

function refuse(name: string, message: string): never {
  throw new InvalidRequestError(`${name}: ${message}`, { issues: [{ path: [name], message }] });
}

function check(name: string, value: unknown, expected: string, others: readonly string[]): string {
  if (typeof value !== 'string' || value === '') refuse(name, `Must be ${expected}, a string.`);
  const kind = kindOf(value);
  if (others.includes(kind)) refuse(name, `Must be ${expected}. This is ${kind}.`);
  return value;
}

export const checkCode = (code: unknown): string =>
  check('code', code, 'the code that came with the user, lk_code_…', [
    'an application secret',
    'a grant secret',
  ]);

export const checkGrantId = (grantId: unknown): string =>
  check('grant_id', grantId, 'the grant_id of the grant, a UUID', [
    'an application secret',
    'a code',
    'a grant secret',
  ]);

export function checkGrantSecret(secret: unknown): string {
  const expected = 'the grant_secret of the grant, lk_grant_…';
  const text = check('grant_secret', secret, expected, [
    'an application secret',
    'a code',
    'an id',
  ]);
  // `fetch` would reject such a header with a message that quotes it.
  if (!/^[\x21-\x7e]+$/.test(text)) refuse('grant_secret', `Must be ${expected}, without spaces.`);
  return text;
}

/** Any text is accepted: a token may come from an untrusted request, and the service checks it. */
export const checkToken = (token: unknown): string =>
  check('token', token, 'the secret of a grant, lk_grant_…', []);

/** The absolute URL that the browser returns to. The service checks whether it is registered. */
export const checkRedirectUri = (redirectUri: unknown): string => {
  const expected = 'the URL of your callback, as registered at the service';
  const text = check('redirect_uri', redirectUri, expected, []);
  return URL.canParse(text) ? text : refuse('redirect_uri', `Must be ${expected}.`);
};

export const checkScope = (scope: unknown): string =>
  check('scope', scope, 'scope tokens with spaces between them', []);

const kindDescriptions: Record<CredentialKind, string> = {
  applicationSecret: 'an application secret',
  code: 'a code',
  grantSecret: 'a grant secret',
  link: 'a link',
  pageTicket: 'a page ticket',
  pageSession: 'a page session',
  key: 'a key of the operator',
};

/** Describes what a text looks like, for a message that must not repeat the text. */
export function kindOf(text: string): string {
  if (isUuid(text)) return 'an id';
  for (const kind of Object.keys(kindDescriptions) as CredentialKind[]) {
    if (text.startsWith(`${credentialPrefixes[kind]}_`)) return kindDescriptions[kind];
  }
  return 'nothing that Latchkey issues';
}
