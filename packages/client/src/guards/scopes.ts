// RFC 6749, section 3.3. None of these characters needs escaping in a challenge.
const TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

export const isToken = (token: unknown) => typeof token === 'string' && TOKEN.test(token);

/**
 * The scope tokens that a resource offers; none where the option is left out.
 *
 * @throws TypeError if it is no list of scope tokens
 */
export function scopesOf(scopes: readonly string[] = []): readonly string[] {
  if (Array.isArray(scopes) && scopes.every(isToken)) return scopes;
  throw new TypeError('scopes must be an array of scope tokens, such as ["notes.read"].');
}
