/**
 * The linter refuses `JSON.parse` where a text comes from outside: its result has any type that somebody
 * asks for.
 *
 * @throws SyntaxError
 */
export const decodeJson: (text: string) => unknown = JSON.parse;
