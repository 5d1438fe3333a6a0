// RFC 6749, section 3.3. What is made only of these needs no escaping in a challenge.
const TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/**
 * The scope tokens that a guard asks for; none where its options don't mention a scope.
 *
 * One that is mentioned and comes out empty or undefined is a mistake in a configuration, and would
 * let every grant in.
 *
 * @throws TypeError where it is no list of scope tokens
 */
export function requiredTokens(options: { scope?: string | readonly string[] }): readonly string[] {
  if (!('scope' in options)) return [];
  const { scope } = options;
  const tokens: unknown = typeof scope === 'string' ? scope.split(' ') : scope;
  if (Array.isArray(tokens) && tokens.length > 0 && tokens.every(isToken)) return tokens;
  throw new TypeError(
    'scope must be one or more scope tokens, such as "photos.read photos.write" or ["photos.read"]. To let every grant in, leave it out.',
  );
}

/** Whether a grant's scope has every one of the tokens. */
export function covers(scope: string, tokens: readonly string[]): boolean {
  const held = new Set(scope.split(' '));
  return tokens.every((token) => held.has(token));
}

const isToken = (token: unknown) => typeof token === 'string' && TOKEN.test(token);
