import { InvalidRequestError } from './errors.ts';
import { kindOf } from './kind-of.ts';

// Only what is certain to be a mix-up is refused here. Whether a code or a secret is good is the
// service's to say: a newer one may have other formats.

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
  check('code', code, 'the code that the user brought, lk_code_…', [
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
  // `fetch` would refuse such a header, and repeat it in its message.
  if (!/^[\x21-\x7e]+$/.test(text)) refuse('grant_secret', `Must be ${expected}, without spaces.`);
  return text;
}
